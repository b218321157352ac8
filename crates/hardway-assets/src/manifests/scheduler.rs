//! `manifests/cluster-scheduler-02-config.yml`: Scheduler.

use serde_json::{Value, json};

use super::config_object::config_object;
use crate::graph::{Inputs, MakeError};
use crate::object_file::{ObjectFile, fields};

/// Says whether masters take workloads: only where install-config asks for no workers at all.
pub(super) fn scheduler() -> ObjectFile {
    ObjectFile::new("scheduler", "manifests/cluster-scheduler-02-config.yml", fields(["compute"]), build)
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let masters_schedulable = inputs.cluster.config.worker_replicas() == 0;
    Ok(config_object(
        "Scheduler",
        &json!({"mastersSchedulable": masters_schedulable, "policy": {"name": ""}}),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn masters_take_workloads_where_there_are_no_workers() {
        for (masters, workers, schedulable) in [(3, 2, false), (3, 1, false), (3, 0, true), (1, 0, true)] {
            let scheduler =
                World::sized(masters, workers).object("manifests/cluster-scheduler-02-config.yml");
            assert_eq!(scheduler["spec"]["mastersSchedulable"], schedulable, "{masters}+{workers}");
        }
    }
}
