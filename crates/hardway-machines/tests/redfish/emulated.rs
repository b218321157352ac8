//! The whole way of a machine through a real emulator, with an ISO that it fetches from our own server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hardway_assets::ignition::TokenKey;
use hardway_base::Secret;
use hardway_base::error_sentence;
use hardway_journal::MediumRead;
use hardway_machines::media_paths::MediaPaths;
use hardway_machines::media_server::MediaServer;
use hardway_machines::redfish::{Bmc, BmcAddress, BootFrom, Controller, Login, Power, RedfishError, Trust};

use hardway_testing::{
    REDFISH_MACHINE as FIRST, REDFISH_PASSWORD as PASSWORD, REDFISH_USER as USER,
    RedfishEmulator as Emulator, self_signed,
};

/// How to log in; `system` as in an address, or nothing.
fn bmc(emulator: &Emulator, system: &str, trust: Trust) -> Bmc {
    Bmc {
        address: BmcAddress::parse(&format!("redfish+{}{system}", emulator.address)).unwrap(),
        user: USER.to_owned(),
        password: Secret::new(PASSWORD),
        login: Login::Basic,
        trust,
    }
}

fn refused<T>(result: Result<T, RedfishError>) -> RedfishError {
    match result {
        Ok(_) => panic!("this should have failed"),
        Err(error) => error,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn insert_boot_once_power_and_back() {
    let Some(emulator) = Emulator::start(1, false) else { return };
    let iso = emulator.folder.path().join("master-0.iso");
    fs_err::write(&iso, vec![7_u8; 300_000]).unwrap();
    let paths = || {
        let journal = emulator.folder.path().join("journal.jsonl");
        MediaPaths::new(TokenKey::new(&Secret::new("key")), &journal)
    };
    let readers: Arc<Mutex<Vec<MediumRead>>> = Arc::default();
    let noted = readers.clone();
    let media = MediaServer::start(
        "127.0.0.1:0".parse().unwrap(),
        BTreeMap::from([("master-0".to_owned(), iso.clone())]),
        paths(),
        Box::new(move |read| {
            noted.lock().unwrap().push(read.clone());
            Ok(())
        }),
        Box::new(|what| panic!("{what}")),
    )
    .await
    .unwrap();
    let path = paths().of("master-0", &iso).unwrap().unwrap();
    let url = Secret::new(format!("http://{}/{}/master-0.iso", media.address(), path.expose_text()));
    let shown = format!("http://{}/<redacted>/master-0.iso", media.address());

    let controller = Controller::connect(&bmc(&emulator, "", Trust::System)).await.unwrap();
    assert_eq!(controller.system(), format!("/redfish/v1/Systems/{FIRST}"));
    let status = controller.status().await.unwrap();
    assert_eq!((status.power, &status.medium), (Power::Off, &None));
    assert!(status.to_string().starts_with("power: off\nmedium: none\nboot: "), "{status}");

    for _ in 0..2 {
        controller.insert(&url).await.unwrap();
        controller.boot_once(BootFrom::VirtualCd).await.unwrap();
        controller.set_power(Power::On).await.unwrap();
        let status = controller.status().await.unwrap();
        assert_eq!((status.power, status.medium.as_deref()), (Power::On, Some(shown.as_str())));
        assert!(status.boot.as_deref().unwrap().starts_with("Cd"), "{status}");
    }
    let read = readers.lock().unwrap().clone();
    assert_eq!(read, [MediumRead { host: "master-0".to_owned(), source: [127, 0, 0, 1].into(), more: 0 }]);

    for _ in 0..2 {
        controller.eject().await.unwrap();
        controller.set_power(Power::Off).await.unwrap();
    }
    let status = controller.status().await.unwrap();
    assert_eq!((status.power, status.medium), (Power::Off, None));
    controller.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_fetched_is_the_controllers_own_words() {
    let Some(emulator) = Emulator::start(1, false) else { return };
    let controller = Controller::connect(&bmc(&emulator, "", Trust::System)).await.unwrap();
    let part = "0123456789abcdef0123456789abcdef";
    let url = Secret::new(format!("http://127.0.0.1:1/{part}/master-0.iso"));
    let error = refused(controller.insert(&url).await);
    let RedfishError::Refused { path, message, .. } = &error else { panic!("{error:?}") };
    assert!(path.ends_with("VirtualMedia.InsertMedia") && !message.is_empty(), "{error}");
    assert!(!format!("{error:?}").contains(part), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_machines_need_a_name() {
    let Some(emulator) = Emulator::start(2, false) else { return };
    let error = refused(Controller::connect(&bmc(&emulator, "", Trust::System)).await).to_string();
    assert!(error.contains("has 2 machines") && error.contains(FIRST), "{error}");
    let named = bmc(&emulator, &format!("/redfish/v1/Systems/{FIRST}"), Trust::System);
    let status = Controller::connect(&named).await.unwrap().status().await.unwrap();
    assert_eq!(status.power, Power::Off);
    let strange = bmc(&emulator, "/redfish/v1/Systems/nobody", Trust::System);
    let error = refused(Controller::connect(&strange).await.unwrap().status().await);
    assert!(matches!(error, RedfishError::Refused { status: 404, .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_checked_unless_told_otherwise_and_a_password_is_never_told() {
    let Some(emulator) = Emulator::start(1, true) else { return };
    for trust in [Trust::Anybody, Trust::File(emulator.certificate())] {
        let controller = Controller::connect(&bmc(&emulator, "", trust)).await.unwrap();
        assert_eq!(controller.status().await.unwrap().power, Power::Off);
    }
    let (other, _) = self_signed(emulator.folder.path(), "other", "IP:127.0.0.1");
    for trust in [Trust::System, Trust::File(other)] {
        let error = refused(Controller::connect(&bmc(&emulator, "", trust)).await);
        assert!(matches!(error, RedfishError::Unreachable { .. }), "{error:?}");
        assert!(
            error_sentence(&error).contains("certificate") && error.fix().contains("caFile"),
            "{}",
            error_sentence(&error)
        );
    }
    let mut wrong = bmc(&emulator, "", Trust::Anybody);
    wrong.password = Secret::new("battery-horse-correct");
    let error = refused(Controller::connect(&wrong).await);
    assert!(matches!(error, RedfishError::Login { .. }), "{error:?}");
    let told = format!("{} {error:?} {wrong:?}", error_sentence(&error));
    assert!(told.contains(USER) && !told.contains("battery"), "{told}");
    let right = bmc(&emulator, "", Trust::Anybody);
    assert!(!format!("{right:?}").contains(PASSWORD));
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let bmc = Bmc {
        address: BmcAddress::parse("redfish+http://127.0.0.1:1").unwrap(),
        user: USER.to_owned(),
        password: Secret::new(PASSWORD),
        login: Login::Basic,
        trust: Trust::System,
    };
    let error = refused(Controller::connect(&bmc).await);
    assert!(error.to_string().contains("redfish+http://127.0.0.1:1 cannot be reached"), "{error}");
    let told = error_sentence(&error);
    assert!(told.ends_with("127.0.0.1:1 cannot be reached: Connection refused (os error 111)"), "{told}");
}
