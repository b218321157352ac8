//! The readers of the two input files, from outside: good files, one bad file per rule, hostile files.

mod cases;
mod field_explanations;
mod files;
mod good_files;
mod hosted_inventory_rules;
mod hostile_text;
mod install_config_rules;
mod inventory_rules;
mod many_mistakes;
mod redaction;
