//! The readers of the two input files, from outside: good files, one bad file per rule, hostile files.

mod cases;
mod files;
mod good_files;
mod install_config_rules;
