import CLandlock
import Glibc

/// Becomes a program that sees no files but those of the system that programs need, those given with `--read`, and the
/// folder, which it may change; that may make sockets in the folders of `--sockets`; that has no TCP; and that is
/// killed when the process of `--parent`, which has to have started it, ends.
///
/// What this kernel cannot deny is allowed; with `--strict` the program is not started where it can deny nothing.
@main
enum ConfineCommand {
    /// Codes of its own ends, as env(1) has them.
    private enum ExitCode {
        static let unconfined: Int32 = 125
        static let notStarted: Int32 = 126
    }

    private static let usage =
        "larder-confine [--strict] [--parent NUMBER] [--read PATH]… [--sockets FOLDER]… --folder FOLDER -- PROGRAM [ARGUMENT…]"

    static func main() {
        if CommandLine.arguments.dropFirst() == ["--version"] {
            print(Landlock.version > 0 ? "Landlock \(Landlock.version)" : "this kernel has no Landlock")
            exit(0)
        }
        guard let order = ConfineOrder(CommandLine.arguments.dropFirst()) else {
            end(ExitCode.unconfined, "usage: \(usage)")
        }
        do {
            try Landlock.restrict(to: order.grants(programs: LoadedFiles.folders()))
        } catch Landlock.Failure.unsupported where !order.isStrict {
            // Its limits hold all the same.
        } catch {
            end(ExitCode.unconfined, "\(error)")
        }
        // The thread that started it counts: swift-subprocess has one for that, which lives as long as the process.
        if let parent = order.parent {
            if larder_end_with_parent() != 0 { end(ExitCode.unconfined, "prctl: \(String(cString: strerror(errno)))") }
            // It may have ended already.
            if getppid() != parent { end(ExitCode.unconfined, "process \(parent) did not start this one, or is gone") }
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
