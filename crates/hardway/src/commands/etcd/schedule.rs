//! The systemd units of `hardway etcd backup --schedule`.

use std::fmt::Write as _;

use crate::cli::{EtcdBackupArgs, Global};
use crate::report::{Code, Report};

/// A service and its timer, as text for two files.
pub(super) fn units(global: &Global, args: &EtcdBackupArgs, calendar: &str) -> Result<String, Report> {
    if calendar.trim().is_empty() || calendar.contains(['\n', '\r']) {
        return Err(Report::new(Code::Usage, "the schedule is empty or has several lines")
            .fix("use --schedule daily or --schedule '*-*-* 02:30', for example; `systemd-analyze calendar` shows how systemd reads it"));
    }
    let absolute = |path: &std::path::Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let program = std::env::current_exe().unwrap_or_else(|_| "hardway".into());
    let mut words = vec![program.display().to_string()];
    let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    add("etcd", "backup".to_owned());
    add("--dir", absolute(&global.dir).display().to_string());
    args.recipient.iter().for_each(|recipient| add("--recipient", recipient.to_string()));
    add("--to", args.to.display().to_string());
    if let Some(keep) = args.keep {
        add("--keep", keep.to_string());
    }
    if let Some(key) = &args.ssh.key {
        add("--key", absolute(key).display().to_string());
    }
    add("--ssh-user", args.ssh.ssh_user.clone());
    add("--ssh-port", args.ssh.ssh_port.to_string());
    if args.without_static_pods {
        words.push("--without-static-pods".to_owned());
    }
    let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let mut text = String::new();
    let _ = write!(
        text,
        "# /etc/systemd/system/hardway-etcd-backup.service\n\
         [Unit]\nDescription=Backup of etcd\nWants=network-online.target\nAfter=network-online.target\n\n\
         [Service]\nType=oneshot\nUMask=0077\nExecStart={}\n\n\
         # /etc/systemd/system/hardway-etcd-backup.timer\n\
         [Unit]\nDescription=Backups of etcd, by the calendar\n\n\
         [Timer]\nOnCalendar={calendar}\nPersistent=true\nRandomizedDelaySec=5min\n\n\
         [Install]\nWantedBy=timers.target\n\n\
         # then: systemctl daemon-reload && systemctl enable --now hardway-etcd-backup.timer\n",
        command.join(" ")
    );
    Ok(text)
}

/// systemd puts something in the place of percent and dollar signs.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    if escaped.contains([' ', '\t', '\'', '"', ';']) { format!("\"{escaped}\"") } else { escaped }
}
