//! What is drawn once and kept: private keys, names, dates, the kubeadmin password.
//!
//! With the same secrets, two runs on two machines give identical bytes for everything else.

mod bundle;
mod identity;
mod key;
mod random;

pub use bundle::{SecretBundle, SecretsError, TOKEN_KEY, is_kubeadmin_password};
pub use identity::{Comes, HostGeneration, Identity, infra_id};
pub use key::{KeyError, PrivateKey, SSH_KEY_TYPE, ssh_fingerprint, ssh_public_key};
pub use random::{Random, kubeadmin_password};
