import Glibc

/// `larder-confine [--strict] [--read PATH]… [--sockets FOLDER]… --folder FOLDER -- PROGRAM [ARGUMENT…]`: becomes the program, which then sees no files but those of the system that programs need, those
/// given with `--read`, and the folder, which it may change; may make sockets in those of `--sockets`; and has no TCP. What cannot be denied on this kernel is allowed, with `--strict` the program is not started then.
@main
enum ConfineCommand {
    /// Codes of its own ends, as env(1) has them.
    private enum ExitCode {
        static let unconfined: Int32 = 125
        static let notStarted: Int32 = 126
    }

    static func main() {
        if CommandLine.arguments.dropFirst() == ["--version"] {
            print(Landlock.version > 0 ? "Landlock \(Landlock.version)" : "this kernel has no Landlock")
            exit(0)
        }
        guard let order = ConfineOrder(CommandLine.arguments.dropFirst()) else {
            end(ExitCode.unconfined, "usage: larder-confine [--strict] [--read PATH]… [--sockets FOLDER]… --folder FOLDER -- PROGRAM [ARGUMENT…]")
        }
        do {
            try Landlock.restrict(to: order.grants(programs: LoadedFiles.folders()))
        } catch Landlock.Failure.unsupported where !order.isStrict {
            // Its limits hold all the same.
        } catch {
            end(ExitCode.unconfined, "\(error)")
        }
        var arguments = order.command.map { strdup($0) } + [nil]
        execv(order.command[0], &arguments)
        end(ExitCode.notStarted, "\(order.command[0]): \(String(cString: strerror(errno)))")
    }

    private static func end(_ code: Int32, _ words: String) -> Never {
        let line = Array("larder-confine: \(words)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(code)
    }
}
