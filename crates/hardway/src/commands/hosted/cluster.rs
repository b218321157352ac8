//! `hardway hosted cluster`

use std::fmt::Write as _;

use hardway_assets::secrets::Random;
use hardway_assets::yaml;
use hardway_base::Secret;
use hardway_cluster::objects::Truth;
use hardway_hosted::config_watch::{ConfigWatch, REST};
use hardway_hosted::gates::first_held;
use hardway_hosted::objects::HostedCluster;
use hardway_hosted::render::{
    Availability, ClusterRequest, NodePoolRequest, RequestErrors, ServicePorts, UpgradeType, objects,
};
use hardway_hosted::{HostedError, names, pool_status};
use serde_json::{Value, json};

use crate::cli::{
    AvailabilityArg, ClusterNameArgs, ClusterSpecArgs, ClusterVerb, Format, Global, HostedRenderArgs,
};
use crate::clock;
use crate::hosted::{ManagementAccess, connect, encryption_key, failed, refused};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    verb: &ClusterVerb,
    out: &Output,
) -> Result<Exit, Report> {
    match verb {
        ClusterVerb::Render(render) => self::render(global, access, render, out)?,
        ClusterVerb::Create(spec) => create(access, spec, out).await?,
        ClusterVerb::Status(name) => return status(access, name, out).await,
        ClusterVerb::Kubeconfig { name } => {
            let kubeconfig =
                connect(access, name).await?.admin_kubeconfig().await.map_err(|error| failed(&error))?;
            out.bytes(kubeconfig.expose());
        }
        ClusterVerb::Delete { name, .. } => {
            let management = connect(access, name).await?;
            let was_there = management.delete::<HostedCluster>(name).await.map_err(|error| failed(&error))?;
            match was_there {
                true => out.info(&format!(
                    "deleting HostedCluster {name} with its pools and its control plane; machines stay"
                )),
                false => {
                    return Err(failed(&HostedError::Missing(format!(
                        "HostedCluster {name} in {}",
                        access.namespace
                    ))));
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// What is printed is the same every time, so that it can be kept and compared.
fn render(
    global: &Global,
    access: &ManagementAccess,
    render: &HostedRenderArgs,
    out: &Output,
) -> Result<(), Report> {
    let (mut request, mut objects) = checked(access, &render.cluster)?;
    if render.render_sensitive {
        request.encryption_key = encryption_key(&Workdir::open(&global.dir)?, &request)?;
        objects = self::objects(&request).map_err(|errors| refused(&errors))?;
    } else {
        objects.iter_mut().for_each(hide);
        out.info(
            "values of Secrets are left out, so this output cannot be applied as is; --render-sensitive includes them",
        );
    }
    let documents: Vec<String> = objects.iter().map(yaml::write).collect();
    out.data(&documents.join("---\n"));
    Ok(())
}

async fn create(access: &ManagementAccess, spec: &ClusterSpecArgs, out: &Output) -> Result<(), Report> {
    let (request, objects) = checked(access, spec)?;
    let management = connect(access, &spec.name).await?;
    let make = async {
        // Before anything is made: Secrets applied for a cluster that is there would be another cluster's.
        if management.hosted_cluster().await?.is_some() {
            return Err(HostedError::AlreadyThere(format!("HostedCluster {}", spec.name)));
        }
        management.check_ports(&request.ports.rows()).await?;
        management.make(&objects).await
    };
    make.await.map_err(|error: HostedError| failed(&error))?;
    let ports = request.ports.rows().map(|(service, port)| format!("{service} {port}")).join(", ");
    out.info(&format!(
        "created HostedCluster {}; workers reach it at {}: {ports}",
        spec.name, request.address
    ));
    out.info(&format!("next: hardway hosted cluster status {}", spec.name));
    Ok(())
}

/// The request and its objects; or everything that is wrong with the flags and the files they name, at once.
fn checked(
    access: &ManagementAccess,
    spec: &ClusterSpecArgs,
) -> Result<(ClusterRequest, Vec<Value>), Report> {
    let mut files = Files::default();
    let request = request(access, spec, &mut files);
    match (objects(&request), files.errors.is_empty()) {
        (Ok(objects), true) => Ok((request, objects)),
        (Ok(_), false) => Err(refused(&RequestErrors(files.errors))),
        (Err(RequestErrors(mut errors)), _) => {
            errors.extend(files.errors);
            Err(refused(&RequestErrors(errors)))
        }
    }
}

/// Files that flags name, as far as they can be read.
#[derive(Default)]
struct Files {
    errors: Vec<String>,
}

impl Files {
    fn read(&mut self, path: &std::path::Path) -> Option<String> {
        let read = fs_err::read_to_string(path);
        read.map_err(|error| self.errors.push(Report::from_error(Code::HostedRequest, &error).what)).ok()
    }
}

fn request(access: &ManagementAccess, spec: &ClusterSpecArgs, files: &mut Files) -> ClusterRequest {
    let random = Random::default();
    // Of a file that cannot be read, that is told and nothing else.
    let pull_secret = files.read(&spec.pull_secret).unwrap_or_else(|| r#"{"auths":{}}"#.to_owned());
    let pool = u32::try_from(spec.node_pool_replicas).ok().map(|replicas| NodePoolRequest {
        name: spec.name.clone(),
        namespace: access.namespace.clone(),
        cluster: spec.name.clone(),
        release_image: spec.release_image.clone(),
        replicas,
        arch: spec.arch.clone(),
        upgrade_type: UpgradeType::InPlace,
        max_unavailable: None,
        auto_repair: false,
        node_labels: Default::default(),
        taints: Vec::new(),
    });
    let ports = spec.node_port_base.map(ServicePorts::from_base);
    ClusterRequest {
        name: spec.name.clone(),
        namespace: access.namespace.clone(),
        base_domain: spec.base_domain.clone(),
        release_image: spec.release_image.clone(),
        pull_secret: Secret::new(pull_secret.trim()),
        ssh_key: spec.ssh_key.as_deref().and_then(|file| files.read(file)).map(|key| key.trim().to_owned()),
        address: spec.external_api_server_address.clone(),
        ports: ports.unwrap_or_else(|| ServicePorts::of_cluster(&access.namespace, &spec.name)),
        cluster_network: spec.cluster_cidr.clone(),
        service_network: spec.service_cidr.clone(),
        machine_network: spec.machine_cidr.clone(),
        availability: match spec.control_plane_availability_policy {
            AvailabilityArg::HighlyAvailable => Availability::HighlyAvailable,
            AvailabilityArg::SingleReplica => Availability::SingleReplica,
        },
        storage_class: spec.etcd_storage_class.clone(),
        storage_size: spec.etcd_storage_size.clone(),
        fips: spec.fips,
        trust_bundle: spec.additional_trust_bundle.as_deref().and_then(|file| files.read(file)),
        infra_id: spec.infra_id.clone().unwrap_or_else(|| names::infra_id(&access.namespace, &spec.name)),
        encryption_key: Secret::new(random.bytes::<32>()),
        node_pool: pool,
    }
}

/// Values of Secrets are for `--render-sensitive` only.
fn hide(object: &mut Value) {
    if object["kind"] == "Secret"
        && let Some(data) = object["data"].as_object_mut()
    {
        data.values_mut().for_each(|value| *value = json!(""));
    }
}

async fn status(access: &ManagementAccess, name: &ClusterNameArgs, out: &Output) -> Result<Exit, Report> {
    let management = connect(access, &name.name).await?;
    let now = clock::now();
    let look = async {
        let cluster = management.hosted_cluster().await?;
        let cluster = cluster.ok_or_else(|| {
            HostedError::Missing(format!("HostedCluster {} in {}", name.name, access.namespace))
        })?;
        let mut pools = Vec::new();
        for pool in management.node_pools().await? {
            pools.push(pool_status(&management, &pool, &mut ConfigWatch::default(), REST, now).await?);
        }
        Ok((cluster, pools))
    };
    let (cluster, pools) = look.await.map_err(|error: HostedError| failed(&error))?;
    let value = json!({
        "name": name.name, "namespace": access.namespace, "controlPlaneNamespace": management.control_plane(),
        "ignitionEndpoint": cluster.status.ignition_endpoint, "conditions": cluster.conditions(), "nodePools": pools,
    });
    if name.output != Format::Text {
        out.value(&value, name.output);
        return Ok(Exit::Done);
    }
    let mut text = format!("HostedCluster {}/{}\n", access.namespace, name.name);
    let _ = writeln!(text, "  control plane in  {}", management.control_plane());
    let _ = writeln!(
        text,
        "  first boots from  {}",
        cluster.status.ignition_endpoint.as_deref().unwrap_or("unknown yet")
    );
    for condition in
        cluster.conditions().iter().filter(|condition| WORTH_TELLING.contains(&condition.r#type.as_str()))
    {
        let mark = if (condition.status == Truth::True) == (condition.r#type != "Degraded") {
            "ok  "
        } else {
            "look"
        };
        let _ = writeln!(text, "  {mark}  {}", condition.sentence());
    }
    for pool in &pools {
        let held = first_held(&pool.gates);
        let state = held.map_or_else(
            || "machines can boot".to_owned(),
            |gate| format!("held at {}: {}", gate.name, gate.seen),
        );
        let _ =
            writeln!(text, "NodePool {}  {}  {state}", pool.name, pool.config_hash.as_deref().unwrap_or("-"));
    }
    out.data(&text);
    Ok(Exit::Done)
}

/// Those that mean something on platform None.
const WORTH_TELLING: [&str; 8] = [
    "Available",
    "Degraded",
    "IgnitionEndpointAvailable",
    "DataPlaneConnectionAvailable",
    "ControlPlaneConnectionAvailable",
    "ValidReleaseImage",
    "ClusterVersionSucceeding",
    "ValidConfiguration",
];
