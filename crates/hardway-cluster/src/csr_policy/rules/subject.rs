//! Who the certificate will be about.

use hardway_assets::node_name::is_node_name;

use super::Rule;
use crate::csr_policy::case::{Case, NODE_PREFIX};
use crate::csr_policy::{Finding, ReasonCode};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "subject", about: "one name and one group, nothing else", check: subject },
    Rule { name: "group", about: "the group is system:nodes", check: group },
    Rule {
        name: "node-name",
        about: "the name is system:node:<a name that a Node can have>",
        check: node_name,
    },
    Rule { name: "declared", about: "the inventory has a master or worker of that name", check: declared },
];

fn subject(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    if read.common_names.len() > 1 {
        let what = format!("its subject has {} common names", read.common_names.len());
        Finding::objects(ReasonCode::SubjectExtra, what)
    } else if !read.other_attributes.is_empty() {
        let what = format!("its subject also has {}", read.other_attributes.join(", "));
        Finding::objects(ReasonCode::SubjectExtra, what)
    } else {
        Finding::fits("its subject has only group and name")
    }
}

/// Exactly one: a group that stands twice is a kubelet's no more than two groups are.
fn group(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    if read.organizations == ["system:nodes"] {
        Finding::fits("its group is system:nodes")
    } else {
        let what = format!("its groups are {:?}, where a node has system:nodes", read.organizations);
        Finding::objects(ReasonCode::OrganizationNotNodes, what)
    }
}

fn node_name(case: &Case<'_>) -> Finding {
    let Ok(read) = case.pkcs10 else { return Finding::DoesNotApply };
    // Several names are the subject rule's to object to; none is ours.
    let Some(name) = case.node_name() else {
        let what = format!("its name is {:?}, where a node's is {NODE_PREFIX}<name>", read.common_names);
        return Finding::objects(ReasonCode::NotANode, what);
    };
    let first = name.split('.').next().unwrap_or_default();
    if first == "localhost" {
        Finding::objects(
            ReasonCode::NodeNameLocalhost,
            format!("the machine calls itself {name}: its host name is not set"),
        )
    } else if is_node_name(name) {
        Finding::fits(format!("it is for node {name}"))
    } else {
        Finding::objects(ReasonCode::NodeNameInvalid, format!("{name:?} is not a valid node name"))
    }
}

fn declared(case: &Case<'_>) -> Finding {
    let Some(name) = case.node_name() else { return Finding::DoesNotApply };
    match case.declared() {
        Some(node) => Finding::fits(format!("the inventory has host {} for it", node.host)),
        None => match case.world.declared.nodes.meant_by(name) {
            Some(node) => Finding::objects(
                ReasonCode::NodeNamedOtherwise,
                format!("the machine calls itself {name:?}; host {} is expected as {}", node.host, node.name),
            ),
            None => {
                Finding::objects(ReasonCode::NodeNotDeclared, format!("the inventory has no node {name:?}"))
            }
        },
    }
}
