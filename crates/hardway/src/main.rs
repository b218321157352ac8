//! hardway: installs OpenShift and OKD on machines you own, and explains every byte it writes.

mod cli;
mod clock;
mod cluster;
mod commands;
mod explanations;
mod hosted;
mod inputs;
mod install;
mod journal;
mod machines;
mod page;
mod project;
mod release;
mod report;
mod runtime;
mod server;
mod terminal;

use std::process::ExitCode;

use cli::Command;
use terminal::{Output, OutputOptions};

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(error) => return cli::usage(&error),
    };
    let (level, color, dir) = (cli.global.log_level(), cli.global.color, cli.global.dir.clone());
    let errors = cli.errors;
    let output =
        move || Output::new(OutputOptions { level, color, errors, dir: dir.clone(), advise: cli::in_folder });
    let out = output();
    let result = clock::set()
        .and_then(|()| if asks_cluster(&cli.command) { commands::lab::enter(&cli.global) } else { Ok(()) })
        .and_then(|()| {
            runtime::end_when_pressed(move |report| output().report(report));
            run(&cli, &out)
        });
    runtime::end();
    match result.and_then(|code| out.failure().map_or(Ok(code), Err)) {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            out.report(&report);
            ExitCode::from(report.exit)
        }
    }
}

/// Commands that talk to the cluster of a folder, or look around as its nodes would: in a lab they have to be where it is. Those
/// that make the lab as well go there by themselves, once it is there.
fn asks_cluster(command: &Command) -> bool {
    match command {
        Command::Approve(args) => args.what.is_none(),
        Command::Certs(_)
        | Command::Day2(_)
        | Command::Diagnose(_)
        | Command::Etcd(_)
        | Command::Gather(_)
        | Command::Hosted(_)
        | Command::Node(_)
        | Command::Power(_)
        | Command::Verify(_)
        | Command::WaitFor(_) => true,
        Command::Check(args) => matches!(args.what, Some(cli::CheckWhat::Images(_))),
        Command::Bmc(_)
        | Command::Completion(_)
        | Command::Create(_)
        | Command::Destroy(_)
        | Command::Diff(_)
        | Command::Explain(_)
        | Command::Graph(_)
        | Command::Infra(_)
        | Command::Init(_)
        | Command::Lab(_)
        | Command::Man(_)
        | Command::Media(_)
        | Command::Page(_)
        | Command::Phase(_)
        | Command::Plan(_)
        | Command::Release(_)
        | Command::Serve(_)
        | Command::Status(_)
        | Command::Validate(_)
        | Command::Version(_) => false,
    }
}

fn run(cli: &cli::Cli, out: &Output) -> Result<report::Exit, report::Report> {
    match &cli.command {
        Command::Approve(args) => commands::approve::run(&cli.global, args, out),
        Command::Bmc(args) => commands::bmc::run(&cli.global, args, out),
        Command::Certs(args) => commands::certs::run(&cli.global, args, out),
        Command::Check(args) => commands::check::run(&cli.global, args, out),
        Command::Completion(args) => commands::completion::run(args, out),
        Command::Create(args) => commands::create::run(&cli.global, args, out),
        Command::Day2(args) => commands::day2::run(&cli.global, args, out),
        Command::Destroy(args) => commands::destroy::run(&cli.global, args, out),
        Command::Diagnose(args) => commands::diagnose::run(&cli.global, args, out),
        Command::Diff(args) => commands::diff::run(&cli.global, args, out),
        Command::Etcd(args) => commands::etcd::run(&cli.global, args, out),
        Command::Explain(args) => commands::explain::run(&cli.global, args, out),
        Command::Gather(args) => commands::gather::run(&cli.global, args, out),
        Command::Graph(args) => commands::graph::run(&cli.global, args, out),
        Command::Hosted(args) => commands::hosted::run(&cli.global, args, out),
        Command::Infra(args) => commands::infra::run(&cli.global, args, out),
        Command::Init(args) => commands::init::run(&cli.global, args, out),
        Command::Lab(args) => commands::lab::run(&cli.global, args, out),
        Command::Man(args) => commands::man::run(args, out),
        Command::Media(args) => commands::media::run(&cli.global, args, out),
        Command::Node(args) => commands::node::run(&cli.global, args, out),
        Command::Page(args) => commands::page::run(&cli.global, args, out),
        Command::Phase(args) => commands::phase::run(&cli.global, args, out),
        Command::Plan(args) => commands::plan::run(&cli.global, args, out),
        Command::Power(args) => commands::power::run(&cli.global, args, out),
        Command::Release(args) => commands::release::run(&cli.global, args, out),
        Command::Serve(args) => commands::serve::run(&cli.global, args, out),
        Command::Status(args) => commands::status::run(&cli.global, args, out),
        Command::Validate(args) => commands::validate::run(&cli.global, args, out),
        Command::Verify(args) => commands::verify::run(&cli.global, args, out),
        Command::Version(args) => commands::version::run(args, out),
        Command::WaitFor(args) => commands::wait_for::run(&cli.global, args, out),
    }
}
