//! Releases that are named by a word: an update service, or a repository's tags, says which digest that is.

use hardway_testing::free_port;

use super::graph_server::GraphServer;
use super::site::Site;

fn names(site: &Site, graph: &str) {
    site.work.write("inventory.yaml", format!("release:\n  image: \"4.18\"\n  graph: {graph}\n"));
}

#[test]
fn a_channel_is_asked_for_its_newest() {
    let site = Site::new();
    let server = GraphServer::start(&site.digest());
    names(&site, &server.url());
    for word in ["4.18", "stable-4.18", "4.18.99"] {
        let ran = site.plain(&["info", word]).expect(0);
        assert!(ran.stdout.contains(&format!("image         {}\n", site.digest())), "{}", ran.stdout);
        ran.says(&format!("4.18.99 is {}, by channel stable-4.18 of {}", site.digest(), server.url()))
            .says("known risks of updates to 4.18.99: SlowNodes");
        assert_eq!(server.take_seen(), ["channel=stable-4.18&arch=amd64"]);
    }
}

#[test]
fn what_no_service_knows_is_told() {
    let site = Site::new();
    let server = GraphServer::start(&site.digest());
    names(&site, &server.url());
    site.plain(&["info", "4.21"])
        .expect(1)
        .says("error[image-not-found]")
        .says("knows no channel \"stable-4.21\" for amd64");
    site.plain(&["info", "4.18", "--arch", "aarch64"])
        .expect(1)
        .says("knows no channel \"stable-4.18\" for arm64");
    // Nobody there; a page that is no graph; a release by tag, which somebody could move.
    names(&site, &format!("http://127.0.0.1:{}/graph", free_port()));
    site.plain(&["info", "4.18"])
        .expect(1)
        .says("error[registry-unreachable]")
        .says("name the release by digest");
    names(&site, &server.url().replace("graph", "else"));
    site.plain(&["info", "4.18"]).expect(1).says("says 404: not_found: no such path");
    let tagged = GraphServer::start(&site.tag());
    names(&site, &tagged.url());
    site.plain(&["info", "4.18"]).expect(1).says("which is no pull spec by digest");
    // A digest asks nobody.
    site.plain(&["info", &site.digest()]).expect(0);
    assert!(tagged.take_seen().len() == 1 && server.take_seen().len() == 3);
}

#[test]
fn okd_is_found_by_its_tags() {
    let site = Site::new();
    let registry = &site.world.registry;
    for tag in ["4.19.0-okd-scos.9", "4.19.0-okd-scos.15", "4.20.0-okd-scos.ec.1"] {
        registry.pusher("okd/scos-release").image(&site.world.release, Some(tag));
    }
    let repository = format!("{}/okd/scos-release", registry.address());
    site.work.write("inventory.yaml", format!("release:\n  image: okd-scos\n  repository: {repository}\n"));
    let ran = site.plain(&["info", "okd-scos"]).expect(0);
    ran.says(&format!("by tag 4.19.0-okd-scos.15 of {repository}"));
    site.plain(&["info", "okd-scos-4.18"])
        .expect(1)
        .says("error[image-not-found]")
        .says("the newest there is 4.19.0-okd-scos.15");
}
