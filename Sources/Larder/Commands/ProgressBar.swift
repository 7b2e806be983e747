import Database
import Foundation

/// Shows the progress of a long command on standard error, if that is a terminal.
final class ProgressBar {
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var line = ""

    /// - Parameters:
    ///   - isTerminal: Whether lines can be written over; otherwise nothing is shown.
    ///   - write: Writes a text.
    init(isTerminal: Bool = ProgressBar.isOnTerminal, write: @escaping (String) -> Void = StandardError.write) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Shows that a part of a step is done.
    ///
    /// - Parameters:
    ///   - title: What the step does.
    ///   - completed: What is done, in bytes or another unit.
    ///   - total: All of the step; 0 if that is not known.
    ///   - amount: Writes an amount of it.
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
    /// Shows what is being done with stored data.
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
