//! What vendors' controllers do differently, as stand-ins do it.

use std::sync::atomic::{AtomicBool, Ordering};

use hardway_base::{Secret, error_sentence};
use hardway_machines::redfish::{BmcAddress, BootFrom, Controller, Login, Power, RedfishError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::stand_in::{Reply, StandIn};

const SYSTEM: &str = "/redfish/v1/Systems/1";
const DRIVE: &str = "/redfish/v1/Managers/1/VirtualMedia/2";

fn ok(body: Value) -> Reply {
    (200, "", body)
}

/// The resources of a controller whose drives belong to its manager.
fn resources(what: &str, system: Value, drive: Value) -> Reply {
    let link = |path: &str| json!({"@odata.id": path});
    match what {
        "GET /redfish/v1/Systems" => ok(json!({"Members": [link(SYSTEM)]})),
        "GET /redfish/v1/Systems/1" => {
            let mut all = system;
            all["Links"] = json!({"ManagedBy": [link("/redfish/v1/Managers/1")]});
            (200, "ETag: \"42\"\r\n", all)
        }
        "GET /redfish/v1/Managers/1" => {
            ok(json!({"VirtualMedia": link("/redfish/v1/Managers/1/VirtualMedia")}))
        }
        "GET /redfish/v1/Managers/1/VirtualMedia" => {
            ok(json!({"Members": [link("/redfish/v1/Managers/1/VirtualMedia/1"), link(DRIVE)]}))
        }
        "GET /redfish/v1/Managers/1/VirtualMedia/1" => ok(json!({"MediaTypes": ["USBStick"]})),
        "GET /redfish/v1/Managers/1/VirtualMedia/2" => ok(drive),
        _ => (404, "", json!({})),
    }
}

#[tokio::test]
async fn dell_refuses_what_is_the_default_anyway() {
    let inserted = AtomicBool::new(false);
    let target = "/redfish/v1/Managers/1/VirtualMedia/2/Actions/VirtualMedia.InsertMedia";
    let controller = StandIn::start(move |asked| match asked.what.as_str() {
        what if what == format!("POST {target}") && asked.body.get("Inserted").is_some() => {
            let message =
                "The property Inserted is not in the list of valid properties; login calvin-and-hobbes.";
            (400, "", json!({"error": {"@Message.ExtendedInfo": [{"Message": message}]}}))
        }
        what if what == format!("POST {target}") => {
            inserted.store(true, Ordering::SeqCst);
            (204, "", Value::Null)
        }
        what => {
            let image = if inserted.load(Ordering::SeqCst) { json!("http://s/a.iso") } else { Value::Null };
            let drive = json!({"MediaTypes": ["CD", "DVD"], "Image": image, "Inserted": image.is_string(),
                               "Actions": {"#VirtualMedia.InsertMedia": {"target": target}}});
            resources(what, json!({"PowerState": "Off"}), drive)
        }
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
    reached.insert(&Secret::new("http://s/a.iso")).await.unwrap();
    let bodies: Vec<Value> = controller.changes().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[1], json!({"Image": "http://s/a.iso"}));
    assert_eq!(reached.status().await.unwrap().medium.as_deref(), Some("http://s/a.iso"));
}

#[tokio::test]
async fn a_drive_without_actions_is_changed_itself() {
    let inserted = AtomicBool::new(false);
    let controller = StandIn::start(move |asked| {
        if asked.what == format!("PATCH {DRIVE}") {
            inserted.store(asked.body["Inserted"] == true, Ordering::SeqCst);
            return (200, "", json!({}));
        }
        let is_inserted = inserted.load(Ordering::SeqCst);
        // The name of the last image stays behind.
        let drive = json!({"MediaTypes": ["CD"], "Image": "http://s/a.iso", "Inserted": is_inserted});
        resources(&asked.what, json!({"PowerState": "Off"}), drive)
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
    assert_eq!(reached.status().await.unwrap().medium, None);
    reached.insert(&Secret::new("http://s/a.iso")).await.unwrap();
    assert_eq!(reached.status().await.unwrap().medium.as_deref(), Some("http://s/a.iso"));
    reached.eject().await.unwrap();
    assert_eq!(reached.status().await.unwrap().medium, None);
    assert_eq!(controller.changes().len(), 2);
}

#[tokio::test]
async fn the_boot_target_is_what_the_controller_calls_it_and_its_tag_is_shown() {
    let controller = StandIn::start(|asked| {
        if asked.what == format!("PATCH {SYSTEM}") {
            return if asked.header("if-match") == Some("\"42\"") {
                (204, "", Value::Null)
            } else {
                (428, "", json!({}))
            };
        }
        let boot = json!({"BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "UsbCd"],
                          "BootSourceOverrideMode": "Legacy"});
        resources(&asked.what, json!({"PowerState": "Off", "Boot": boot}), json!({}))
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
    reached.boot_once(BootFrom::VirtualCd).await.unwrap();
    let last = controller.changes().pop().unwrap();
    let wanted = json!({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UsbCd",
                        "BootSourceOverrideMode": "Legacy"});
    assert_eq!(last.body, json!({"Boot": wanted}));
}

#[tokio::test]
async fn changes_beside_the_system_and_resets_by_another_name() {
    let is_on = AtomicBool::new(false);
    let controller = StandIn::start(move |asked| match asked.what.as_str() {
        "PATCH /redfish/v1/Systems/1" => (405, "", json!({})),
        "PATCH /redfish/v1/Systems/1/Settings" => (202, "", json!({})),
        "POST /redfish/v1/Systems/1/Reset" => {
            is_on.store(true, Ordering::SeqCst);
            (202, "", json!({}))
        }
        what => {
            let power = if is_on.load(Ordering::SeqCst) { "On" } else { "PoweringOn" };
            let reset = json!({"target": "/redfish/v1/Systems/1/Reset",
                               "ResetType@Redfish.AllowableValues": ["ForceOff", "PushPowerButton"]});
            let system = json!({"PowerState": power, "Actions": {"#ComputerSystem.Reset": reset},
                "@Redfish.Settings": {"SettingsObject": {"@odata.id": "/redfish/v1/Systems/1/Settings"}}});
            resources(what, system, json!({}))
        }
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
    reached.boot_once(BootFrom::VirtualCd).await.unwrap();
    reached.set_power(Power::On).await.unwrap();
    let asked: Vec<String> = controller.changes().into_iter().map(|asked| asked.what).collect();
    assert_eq!(asked[1..], ["PATCH /redfish/v1/Systems/1/Settings", "POST /redfish/v1/Systems/1/Reset"]);
    assert_eq!(controller.changes()[2].body, json!({"ResetType": "PushPowerButton"}));
}

#[tokio::test]
async fn a_session_is_begun_once_and_given_back() {
    const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";
    let controller = StandIn::start(|asked| match asked.what.as_str() {
        what if what == format!("POST {SESSIONS}") => {
            let right = json!({"UserName": "admin", "Password": "calvin-and-hobbes"});
            assert_eq!(asked.header("authorization"), None);
            if asked.body != right {
                return (401, "", json!({}));
            }
            (
                201,
                "X-Auth-Token: t0ken\r\nLocation: https://bmc/redfish/v1/SessionService/Sessions/7\r\n",
                json!({}),
            )
        }
        _ if asked.header("x-auth-token") != Some("t0ken") => (401, "", json!({})),
        what if what == format!("DELETE {SESSIONS}/7") => (204, "", Value::Null),
        what => {
            resources(what, json!({"PowerState": "On", "Manufacturer": "Acme", "Model": "R1"}), json!({}))
        }
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Session)).await.unwrap();
    let status = reached.status().await.unwrap();
    assert_eq!((status.power, status.model.as_str()), (Power::On, "Acme R1"));
    reached.close().await.unwrap();
    let changes: Vec<String> = controller.changes().into_iter().map(|asked| asked.what).collect();
    assert_eq!(changes, [format!("POST {SESSIONS}"), format!("DELETE {SESSIONS}/7")]);
    assert!(controller.asked().iter().all(|asked| asked.header("authorization").is_none()));
    let mut wrong = controller.bmc(Login::Session);
    wrong.password = Secret::new("susie");
    assert!(Controller::connect(&wrong).await.is_err());
}

#[tokio::test]
async fn a_session_is_given_back_where_no_machine_is_found() {
    const SESSIONS: &str = "/redfish/v1/SessionService/Sessions";
    let controller = StandIn::start(|asked| match asked.what.as_str() {
        what if what.starts_with("POST ") => {
            (201, "X-Auth-Token: t0ken\r\nLocation: /redfish/v1/SessionService/Sessions/7\r\n", json!({}))
        }
        what if what.starts_with("DELETE ") => (204, "", Value::Null),
        _ => ok(json!({"Members": []})),
    })
    .await;
    let error = Controller::connect(&controller.bmc(Login::Session)).await.err().unwrap();
    assert!(error.to_string().ends_with("the controller has no machine"), "{error}");
    let changes: Vec<String> = controller.changes().into_iter().map(|asked| asked.what).collect();
    assert_eq!(changes, [format!("POST {SESSIONS}"), format!("DELETE {SESSIONS}/7")]);
}

#[tokio::test]
async fn who_may_not_is_told_what_the_controller_says() {
    let controller = StandIn::start(|asked| match asked.what.as_str() {
        what if what.starts_with("POST ") => {
            (403, "", json!({"error": {"message": "Privilege ConfigureComponents is missing."}}))
        }
        what => resources(what, json!({"PowerState": "Off"}), json!({})),
    })
    .await;
    let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
    let error = reached.set_power(Power::On).await.unwrap_err();
    assert!(matches!(error, RedfishError::Refused { status: 403, .. }), "{error:?}");
    assert!(error.to_string().ends_with("403: Privilege ConfigureComponents is missing."), "{error}");
    assert!(error.fix().contains("role Operator"), "{}", error.fix());
}

#[tokio::test]
async fn a_controller_that_quotes_what_it_was_sent_is_not_quoted() {
    const SESSIONS: &str = "POST /redfish/v1/SessionService/Sessions";
    let controller = StandIn::start(|asked| match asked.what.as_str() {
        SESSIONS => (201, "X-Auth-Token: t0ken\r\n", json!({})),
        what if what.starts_with("POST ") => {
            let sent = asked.header("authorization").or(asked.header("x-auth-token")).unwrap();
            let message = format!("not with {sent}, nor as admin:calvin-and-hobbes");
            (500, "", json!({"error": {"message": message}}))
        }
        what => resources(what, json!({"PowerState": "Off"}), json!({})),
    })
    .await;
    for (login, quoted) in [(Login::Basic, "Basic <redacted>"), (Login::Session, "<redacted>")] {
        let reached = Controller::connect(&controller.bmc(login)).await.unwrap();
        let error = reached.set_power(Power::On).await.unwrap_err().to_string();
        assert!(error.ends_with(&format!("not with {quoted}, nor as admin:<redacted>")), "{error}");
    }
}

/// The login is for the controller alone.
#[tokio::test]
async fn a_link_that_leads_elsewhere_is_not_followed() {
    let other = StandIn::start(|_| ok(json!({"PowerState": "On"}))).await;
    let (_, elsewhere) = other.address.split_once("://").unwrap();
    for link in
        [format!("@{elsewhere}/redfish/v1/Systems/1"), format!("http://{elsewhere}/redfish/v1/Systems/1")]
    {
        let controller = StandIn::start(move |_| ok(json!({"Members": [{"@odata.id": link}]}))).await;
        let reached = Controller::connect(&controller.bmc(Login::Basic)).await.unwrap();
        let error = reached.status().await.unwrap_err();
        assert!(error.to_string().ends_with("a link that is not a resource path"), "{error}");
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn an_answer_has_an_end() {
    let controller = StandIn::start(|_| ok(json!("x".repeat(5 << 20)))).await;
    let said = match Controller::connect(&controller.bmc(Login::Basic)).await {
        Ok(reached) => reached.status().await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(said.ends_with(": the answer is larger than 4194304 bytes"), "{said}");
}

#[tokio::test]
async fn what_is_no_web_server_is_said_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("redfish+http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 1024]).await.unwrap();
            stream.write_all(b"220 mail.example.com ESMTP\r\n").await.unwrap();
        }
    });
    let mut bmc = StandIn::start(|_| ok(Value::Null)).await.bmc(Login::Basic);
    bmc.address = BmcAddress::parse(&address).unwrap();
    let Err(error) = Controller::connect(&bmc).await else { panic!("that is no controller") };
    let told = error_sentence(&error);
    assert_eq!(told, format!("{address} does not speak HTTP: invalid HTTP version parsed"));
}
