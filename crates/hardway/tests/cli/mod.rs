//! The program as a person meets it: the real binary, in folders of its own, with a clock that stands still.

mod approve;
mod audit;
mod bad_input;
mod create;
mod csr;
mod cut_off;
mod damage;
mod deputy;
mod diagnose;
mod diff;
mod dry_run;
mod edits;
mod error_codes;
mod exit_codes;
mod expiry;
mod first_hour;
mod install;
mod media;
mod media_config;
mod no_leaks;
mod other_cluster;
mod read_verbs;
mod recover;
mod release;
mod secrets;
mod synced;
