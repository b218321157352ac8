//! `hardway serve` as machines, attackers and operators meet it: the real program, over TLS.

mod attacks;
mod boot;
mod changes;
mod ending;
mod kills;
mod refusals;
mod screen;
pub(crate) mod site;
