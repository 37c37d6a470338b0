use std::process::ExitCode;

fn main() -> ExitCode {
    swe_ci::cli::main()
}
