import ArgumentParser
import Foundation
import Storage

/// Standard error, unbuffered. A failed write is ignored, because there is no other place to report it.
enum StandardError {
    static func write(_ text: String) {
        _ = StandardStreams.write(text, to: STDERR_FILENO)
    }
}

extension ExitCode {
    /// EX_DATAERR of sysexits.h.
    static let unusableInput = ExitCode(65)
    /// EX_CONFIG of sysexits.h.
    static let configuration = ExitCode(78)

    /// Writes why a command ends.
    ///
    /// - Returns: The code, to be thrown.
    static func reporting(_ reason: String, _ code: ExitCode = .failure) -> ExitCode {
        StandardError.write("larder: \(reason)\n")
        return code
    }
}

/// Standard output, unbuffered, because programs that start the server wait for its lines.
enum StandardOutput {
    /// Writes the output of a command.
    ///
    /// If the reader has closed the pipe (`larder settings | head -1`), the process ends by SIGPIPE without a message,
    /// even if that signal is ignored. After any other error it ends with a message.
    static func write(_ text: String) {
        switch StandardStreams.write(text, to: STDOUT_FILENO) {
        case nil: return
        case EPIPE: StandardStreams.endByBrokenPipe()
        case let code?:
            StandardError.write("larder: standard output cannot be written: \(String(cString: strerror(code)))\n")
            exit(EXIT_FAILURE)
        }
    }

    /// Writes lines of a server, which continues if they cannot be written.
    static func announce(_ text: String) {
        _ = StandardStreams.write(text, to: STDOUT_FILENO)
    }
}

/// The standard streams of the process.
enum StandardStreams {
    /// Opens `/dev/null` for each closed stream, so that no file of the server gets its number.
    static func openMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
    }

    /// Makes a write to a pipe without a reader fail instead of ending the process. NIO does so only with its first
    /// socket.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process by SIGPIPE.
    fileprivate static func endByBrokenPipe() -> Never {
        _ = signal(SIGPIPE, SIG_DFL)
        // Threads of libdispatch block all signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGPIPE)
        exit(128 + SIGPIPE)
    }

    /// Writes the whole text, and waits while a pipe is full.
    ///
    /// - Returns: The code of the error; nil if there is none.
    fileprivate static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

/// Sizes, ages and counts as the commands print them.
enum HumanReadable {
    /// Bytes in binary units, one decimal: `812 B`, `1.5 KiB`.
    static func bytes(_ count: Int) -> String {
        guard count >= 1024 else { return "\(count) B" }
        var (value, unit) = (Double(count) / 1024, 0)
        let units = ["KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        let tenths = Int(value * 10)
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A span of seconds in the largest unit of which there are at least two: `90s`, `3h`, `12d`.
    static func age(_ seconds: TimeInterval) -> String {
        let seconds = max(0, Int(seconds))
        for (unit, length) in [("d", 86400), ("h", 3600), ("m", 60)] where seconds >= 2 * length {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }

    /// Returns rows in columns that are as wide as their longest cells. The last column is not padded.
    static func table(_ rows: [[String]]) -> String {
        let columns = (rows.first ?? []).indices.dropLast()
        let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1 + 2, withPad: " ", startingAt: 0) }
            return cells.joined() + (row.last ?? "") + "\n"
        }.joined()
    }

    /// A number with its noun.
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

/// A span of time as an argument: `30s`, `15m`, `12h`, `7d`, `2w`.
struct Age: ExpressibleByArgument, Equatable {
    let seconds: TimeInterval

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int(argument.dropLast()),
            0...1_000_000 ~= number
        else { return nil }
        seconds = TimeInterval(number * unit)
    }
}

/// Shows the progress of a long command on standard error, if that is a terminal.
final class ProgressBar {
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var line = ""

    /// - Parameters:
    ///   - isTerminal: Whether lines can be overwritten; otherwise nothing is shown.
    ///   - write: Writes a text.
    init(isTerminal: Bool = ProgressBar.isOnTerminal, write: @escaping (String) -> Void = StandardError.write) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Shows the progress of a step.
    ///
    /// - Parameters:
    ///   - title: The name of the step.
    ///   - completed: The completed part, in bytes or another unit.
    ///   - total: The whole step; 0 if its size is not known.
    ///   - amount: Formats an amount.
    func show(
        _ title: String,
        _ completed: Int,
        of total: Int,
        in amount: (Int) -> String = HumanReadable.bytes
    ) {
        guard isTerminal else { return }
        let next = Self.bar(title, completed, of: total, in: amount)
        guard next != line else { return }
        line = next
        write("\r\(next)\u{1B}[K")
    }

    /// Removes the bar.
    func end() {
        if !line.isEmpty { write("\r\u{1B}[K") }
        line = ""
    }

    /// Returns a line of at most 79 columns.
    static func bar(
        _ title: String,
        _ completed: Int,
        of total: Int,
        in amount: (Int) -> String = HumanReadable.bytes
    ) -> String {
        guard total > 0 else { return title + " …" }
        let percents = Int(Double(completed) / Double(total) * 100)
        let filled = percents * width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        let name = title.padding(toLength: titleWidth, withPad: " ", startingAt: 0)
        let percent = "\(percents)"
        let padding = String(repeating: " ", count: max(0, 3 - percent.count))
        return "\(name) [\(bar)] \(padding)\(percent) % of \(amount(total))"
    }

    private static let width = 30
    private static let titleWidth = 22

    private static var isOnTerminal: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
    }
}

extension ProgressBar {
    /// Shows the progress of an operation on stored data.
    func show(_ progress: StorageProgress) {
        let title =
            switch progress.step {
            case .files: "copying files"
            case .database: "copying the database"
            case .digests: "reading the copies"
            case .check: "checking the database"
            case .contents: "reading files"
            case .removal: "removing responses"
            case .shrinking: "returning free pages"
            }
        show(title, progress.completed, of: progress.total)
    }
}
