//! What happens, for a person or a log: a table that is drawn over itself, or line by line.

use std::io::IsTerminal as _;

use hardway_machines::ignition_server::ConfigEvent;
use hardway_machines::ignition_server::faces::HostTable;

use super::line;
use super::printer::Printer;
use super::view::ServeView;
use crate::cli::ServeFormat;
use crate::report::Report;
use crate::server::{Listener, ServedHosts, failed};
use crate::terminal::Output;

/// Standard output and standard error.
pub(super) struct Screen<'o> {
    out: &'o Output,
    view: ServeView,
    format: ServeFormat,
    printer: Printer,
    is_terminal: bool,
    /// Lines of the table on the screen.
    drawn: usize,
}

impl<'o> Screen<'o> {
    pub(super) fn new(format: ServeFormat, out: &'o Output) -> Result<Self, Report> {
        let is_terminal = std::io::stdout().is_terminal();
        let printer = Printer::start().map_err(|error| failed(&error))?;
        Ok(Self { out, view: ServeView::default(), format, printer, is_terminal, drawn: 0 })
    }

    fn is_live(&self) -> bool {
        self.format == ServeFormat::Text && self.is_terminal && self.view.has_hosts()
    }

    /// Lets a slow reader catch up.
    pub(super) fn finish(self) -> Result<(), Report> {
        match self.printer.end() {
            Ok(0) => {}
            Ok(lost) => {
                self.out.warn(&format!("{lost} events were not printed: the output was not read fast enough"))
            }
            Err(error) => return Err(failed(&error)),
        }
        Ok(())
    }
}

impl Listener for Screen<'_> {
    fn serving(&mut self, url: &str) {
        self.out.info(&format!("serving on {url}"));
    }

    fn booting(&mut self, url: &str) {
        // Up to the port. Who listens everywhere has no address to be reached at.
        let at = url.split('/').take(3).collect::<Vec<_>>().join("/");
        let at = ["0.0.0.0", "[::]"].iter().fold(at, |at, any| at.replace(any, "ADDRESS"));
        self.out.info(&format!("machines boot from {url}: `hardway media urls --url {at}` prints it whole"));
    }

    fn happened(&mut self, event: &ConfigEvent) {
        self.view.note(event);
        if !self.is_live() {
            self.printer.print(line::event(event, self.view.is_elsewhere(event), self.format));
        }
    }

    fn hosts(&mut self, hosts: &ServedHosts, table: &HostTable, told: &hardway_journal::Hosts) {
        self.view.update(&hosts.roles, table, told);
    }

    fn trouble(&mut self, what: &str) {
        self.out.warn(what);
    }

    fn turn(&mut self) {
        if !self.is_live() {
            return;
        }
        let lines = self.view.lines();
        let up = if self.drawn == 0 { String::new() } else { format!("\x1b[{}A", self.drawn) };
        self.printer.print(format!("{up}\x1b[J{}\n", lines.join("\n")));
        self.drawn = lines.len();
    }

    fn ending(&mut self) {
        self.out.info("stopping: waiting for requests in progress");
    }
}
