import Foundation

/// Shows the progress of a long command on standard error: a bar on a terminal, otherwise a line for each step.
final class ProgressBar {
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var title = ""
    private var line = ""

    /// - Parameters:
    ///   - isTerminal: Whether lines can be written over.
    ///   - write: Writes a text.
    init(isTerminal: Bool = ProgressBar.isOnTerminal, write: @escaping (String) -> Void = StandardError.write) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Shows that a part of a step is done.
    ///
    /// - Parameters:
    ///   - title: What the step does.
    ///   - completed: Bytes that are done.
    ///   - total: Bytes of the step; 0 if that is not known.
    func show(_ title: String, _ completed: Int, of total: Int) {
        defer { self.title = title }
        if isTerminal {
            let next = Self.bar(title, completed, of: total)
            guard next != line else { return }
            line = next
            write("\r\(next)\u{1B}[K")
        } else if title != self.title {
            write(title + (total > 0 ? " (\(HumanReadable.bytes(total)))" : "") + "\n")
        }
    }

    /// Removes the bar.
    func end() {
        if !line.isEmpty { write("\r\u{1B}[K") }
        (title, line) = ("", "")
    }

    /// Returns a line of at most 79 columns.
    static func bar(_ title: String, _ completed: Int, of total: Int) -> String {
        guard total > 0 else { return title + " …" }
        let percents = Int(Double(completed) / Double(total) * 100)
        let filled = percents * width / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        let name = title.padding(toLength: titleWidth, withPad: " ", startingAt: 0)
        let percent = "\(percents)"
        let padding = String(repeating: " ", count: max(0, 3 - percent.count))
        return "\(name) [\(bar)] \(padding)\(percent) % of \(HumanReadable.bytes(total))"
    }

    private static let width = 30
    private static let titleWidth = 22

    private static var isOnTerminal: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
    }
}
