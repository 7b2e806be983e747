import CConfine
import Glibc

/// Restricts itself by Landlock and a filter of system calls, and executes a program.
///
/// The program can run programs and read libraries and fonts of the system. It can read the files of `--read`, change
/// the files of the folder, and listen at Unix sockets in the folders of `--sockets`. It cannot connect to anything. It
/// is killed when its parent, the process of `--parent`, ends.
///
/// Accesses that the kernel cannot deny remain allowed. With `--strict` the program is not started if the kernel lacks
/// Landlock or the filter.
@main
enum ConfineCommand {
    /// Exit codes of this program itself, as those of env(1).
    private enum ExitCode {
        static let unconfined: Int32 = 125
        static let notStarted: Int32 = 126
    }

    private static let usage =
        "larder-confine [--strict] [--parent NUMBER] [--read PATH]… [--sockets FOLDER]… --folder FOLDER "
        + "-- PROGRAM [ARGUMENT…]"

    /// Describes the abilities of the kernel in one line, and the features that are lost if one is missing.
    private static var abilities: String {
        let landlock = Landlock.version > 0
        return (landlock ? "Landlock \(Landlock.version)" : "this kernel has no Landlock")
            + (CallFilter.isAvailable ? ", seccomp" : ", no seccomp for this kernel and architecture")
            + (landlock && CallFilter.isAvailable ? "" : ": no previews of office files, all else works")
    }

    static func main() {
        if CommandLine.arguments.dropFirst() == ["--version"] {
            print(abilities)
            exit(0)
        }
        guard let order = ConfineOrder(CommandLine.arguments.dropFirst()) else {
            end(ExitCode.unconfined, "usage: \(usage)")
        }
        do {
            try Landlock.restrict(to: order.grants(build: LoadedFiles.ofBuild()))
        } catch Landlock.Failure.unsupported where !order.isStrict {
            // Without Landlock the limits of prlimit(1) still apply.
        } catch {
            end(ExitCode.unconfined, "\(error)")
        }
        // The signal is sent when the thread that has started this process ends. The thread of swift-subprocess lives
        // as long as its process.
        if let parent = order.parent {
            if larder_end_with_parent() != 0 { end(ExitCode.unconfined, "prctl: \(String(cString: strerror(errno)))") }
            // The parent may have ended before the call.
            if getppid() != parent { end(ExitCode.unconfined, "process \(parent) did not start this one, or is gone") }
        }
        larder_close_others_on_exec()
        refuseCalls(order)
        var arguments = order.command.map { strdup($0) } + [nil]
        execv(order.command[0], &arguments)
        end(ExitCode.notStarted, "\(order.command[0]): \(String(cString: strerror(errno)))")
    }

    private static func refuseCalls(_ order: ConfineOrder) {
        guard CallFilter.isAvailable else {
            if order.isStrict { end(ExitCode.unconfined, "no seccomp for this kernel and architecture") }
            return
        }
        let filter = CallFilter(process: getpid(), allowsListening: !order.sockets.isEmpty)
        // The kernel demands this before a filter is installed. Landlock does it as well, but may be missing.
        guard larder_set_no_new_privileges() == 0, filter.install() == 0 else {
            end(ExitCode.unconfined, "prctl: \(String(cString: strerror(errno)))")
        }
    }

    private static func end(_ code: Int32, _ words: String) -> Never {
        let line = Array("larder-confine: \(words)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(code)
    }
}
