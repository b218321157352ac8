//! What a run will make, as far as it can be known before the nodes are rendered.

use hardway_assets::graph::{Asset, FileState, Plan, PlanStep, Stale};
use hardway_assets::rendered_nodes::{self, POOLS, RenderedNodes};

use super::Project;
use crate::report::Report;

/// A plan, and what has to happen before the rest can be planned.
#[derive(Debug)]
pub(crate) struct Forecast {
    /// Everything that does not depend on rendered nodes; everything, where they need not be rendered.
    pub(crate) plan: Plan,
    /// Why nodes are rendered; empty where they are not.
    pub(crate) render: Vec<Stale>,
    /// What is made from them.
    waiting: Vec<PlanStep>,
}

impl Forecast {
    /// Of the assets that are wanted, and of everything they read.
    pub(crate) fn of(project: &Project, wanted: impl Fn(&dyn Asset) -> bool) -> Result<Self, Report> {
        let is_wanted =
            project.graph().assets().any(|asset| asset.id() == rendered_nodes::ID && wanted(asset));
        let has_all = POOLS.iter().all(|pool| project.release().rendered.contains_key(*pool));
        if !is_wanted || project.is_rendered || has_all {
            let plan = project.plan(&wanted)?;
            let render = if is_wanted && !project.is_rendered { reasons(&plan) } else { Vec::new() };
            if render.is_empty() {
                return Ok(Self { plan, render, waiting: Vec::new() });
            }
            return Self::before(project, wanted, render);
        }
        let after = project.graph().from(rendered_nodes::ID);
        let is_known = |asset: &dyn Asset| asset.id() == rendered_nodes::ID || !after.contains(&asset.id());
        let mut render = reasons(&project.plan(|asset| wanted(asset) && is_known(asset))?);
        if render != [Stale::New] {
            let missing = POOLS.iter().filter(|pool| !project.release().rendered.contains_key(**pool));
            render.extend(missing.map(|pool| Stale::Missing(RenderedNodes::path(pool))));
        }
        Self::before(project, wanted, render)
    }

    fn before(
        project: &Project,
        wanted: impl Fn(&dyn Asset) -> bool,
        render: Vec<Stale>,
    ) -> Result<Self, Report> {
        let after = project.graph().from(rendered_nodes::ID);
        let is_after = |asset: &dyn Asset| after.contains(&asset.id());
        let plan = project.plan(|asset| wanted(asset) && !is_after(asset))?;
        let waits = |asset: &dyn Asset| PlanStep {
            asset: asset.id(),
            phase: asset.phase(),
            reasons: vec![Stale::Awaits(rendered_nodes::ID.to_owned())],
            files: asset.outputs().into_iter().map(|output| (output, FileState::Written)).collect(),
        };
        let mut waiting: Vec<PlanStep> =
            project.graph().assets().filter(|asset| is_after(*asset) && wanted(*asset)).map(waits).collect();
        for step in waiting.iter_mut().filter(|step| step.asset == rendered_nodes::ID) {
            step.reasons.clone_from(&render);
            step.files.clear();
        }
        Ok(Self { plan, render, waiting })
    }

    /// The steps of the plan and those that wait, in order.
    pub(crate) fn steps(&self) -> Vec<&PlanStep> {
        let mut steps: Vec<&PlanStep> = self.plan.steps.iter().chain(&self.waiting).collect();
        steps.sort_by_key(|step| step.phase);
        steps
    }
}

/// Why nodes have to be rendered again. Not at all while somebody has a hand in what was rendered: that is theirs, and
/// everything after it follows what they wrote.
fn reasons(plan: &Plan) -> Vec<Stale> {
    let Some(step) = plan.step(rendered_nodes::ID) else { return Vec::new() };
    if step.files.iter().any(|(_, state)| state.is_kept()) {
        return Vec::new();
    }
    step.reasons.iter().filter(|reason| RenderedNodes::is_outdated_by(reason)).cloned().collect()
}
