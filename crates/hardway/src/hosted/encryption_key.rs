//! The key that a rendered cluster encrypts its etcd with.

use hardway_assets::File;
use hardway_base::Secret;
use hardway_hosted::render::ClusterRequest;

use crate::inputs::{FolderLock, Workdir};
use crate::report::{Code, Report};

/// Drawn once, and kept in the working folder: with another one, what a cluster has encrypted is lost.
pub(crate) fn encryption_key(workdir: &Workdir, request: &ClusterRequest) -> Result<Secret, Report> {
    let name = format!("hosted/{}-{}.etcd-encryption-key", request.namespace, request.name);
    let path = workdir.path(&name);
    match fs_err::read(&path) {
        Ok(key) if key.len() == 32 => return Ok(Secret::new(key)),
        Ok(_) => {
            let what = format!("{} is not a 32-byte key", path.display());
            return Err(Report::new(Code::WorkdirUnusable, what)
                .fix("restore it from a backup; if no cluster was made with it, remove it"));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Report::from_error(Code::WorkdirUnusable, &error)),
    }
    let _held = FolderLock::take(workdir)?;
    workdir.write(&File::secret(name, request.encryption_key.expose().to_vec()))?;
    Ok(request.encryption_key.clone())
}
