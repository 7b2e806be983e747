import Foundation
import Synchronization

@testable import PDF

/// An engine whose files are lists of pages as text, so that a test reads a document's pages in its file: `%PDF-paper`,
/// then a line for each page with its turn in degrees.
///
/// A photo's line is what follows its signature; a photo that says `damaged`, `encrypted`, `bytes`, `pixels`, `slow` or
/// `missing` fails so. Any call can be held.
final class StubDocumentEngine: Sendable {
    private struct State {
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var calls: [String] = []
    }

    private let state = Mutex(State())
    static let header = "%PDF-paper\n"
    static let charactersOfAPage = 20

    /// What was asked of it, by the names of its functions.
    var calls: [String] { state.withLock { $0.calls } }

    /// From now on calls wait until ``release()``.
    func hold() { state.withLock { $0.isHolding = true } }

    /// Lets go on what waits.
    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns when so many calls wait.
    func isHolding(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func enter(_ name: String) async throws {
        await withCheckedContinuation { continuation in
            let (isHeld, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                state.calls.append(name)
                guard state.isHolding else { return (false, []) }
                state.held.append(continuation)
                let count = state.held.count
                defer { state.watchers.removeAll { $0.count <= count } }
                return (true, state.watchers.filter { $0.count <= count }.map(\.continuation))
            }
            if !isHeld { continuation.resume() }
            for watcher in watchers { watcher.resume() }
        }
        try Task.checkCancellation()
    }

    var engine: DocumentEngine {
        DocumentEngine(
            compose: { sources, format, output, progress in
                try await self.enter("compose")
                var lines: [String] = []
                var pages: [DocumentEngine.MadePage] = []
                for (index, source) in sources.enumerated() {
                    let text = String(decoding: try Data(contentsOf: URL(filePath: source.path)), as: UTF8.self)
                    try Self.refuse(text, index)
                    if source.kind == .pdf {
                        let own = try Self.lines(source.path)
                        lines += own
                        pages += own.map {
                            .init(kind: .imported, width: 100, height: 200, rotation: Self.turn(of: $0))
                        }
                    } else {
                        lines.append("\(source.kind) \(text.split(separator: "|").last ?? "") 0")
                        pages.append(
                            .init(kind: .image, width: format == .a4 ? 595 : 30, height: format == .a4 ? 842 : 40)
                        )
                    }
                    progress(Double(index + 1) / Double(sources.count))
                }
                try Self.write(lines, output)
                return pages
            },
            arrange: { files, picks, output, progress in
                try await self.enter("arrange")
                let all = try files.map(Self.lines)
                progress(0.5)
                try Self.write(picks.map { Self.turned(all[$0.file][$0.page - 1], by: $0.turn) }, output)
            },
            typeset: { text, locale, output, progress in
                try await self.enter("typeset")
                let characters = Array(text.replacing("\n", with: " "))
                let pieces = stride(from: 0, to: characters.count, by: Self.charactersOfAPage).map {
                    String(characters[$0..<min(characters.count, $0 + Self.charactersOfAPage)])
                }
                try Self.write(pieces.map { "text \($0)\(locale.map { " (\($0))" } ?? "") 0" }, output)
                return .init(
                    pages: pieces.map { _ in .init(kind: .text, width: 595, height: 842) },
                    missingCharacters: text.contains("☃") ? ["☃"] : []
                )
            },
            draw: { file, page, _, width in
                try await self.enter("draw")
                guard let lines = try? Self.lines(file) else { throw DocumentEngineError.damaged(source: nil) }
                return .init(bytes: Data("\(lines[page - 1]) at \(width)".utf8), type: "image/jpeg")
            }
        )
    }

    private static func refuse(_ text: String, _ source: Int) throws {
        if text.contains("damaged") { throw DocumentEngineError.damaged(source: source) }
        if text.contains("encrypted") { throw DocumentEngineError.encrypted(source: source) }
        if text.contains("bytes") { throw DocumentEngineError.tooManyBytes(source: source, limit: 64 << 20) }
        if text.contains("pixels") { throw DocumentEngineError.tooManyPixels(source: source, limit: 100_000_000) }
        if text.contains("slow") { throw DocumentEngineError.timedOut(source: source) }
        if text.contains("missing") { throw DocumentEngineError.toolMissing(tool: "vips", package: "libvips-tools") }
    }

    static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        return text.dropFirst(header.count).split(separator: "\n").map(String.init)
    }

    private static func write(_ lines: [String], _ path: String) throws {
        try Data((header + lines.joined(separator: "\n")).utf8).write(to: URL(filePath: path))
    }

    private static func turn(of line: String) -> Int { line.split(separator: " ").last.flatMap { Int($0) } ?? 0 }

    private static func turned(_ line: String, by degrees: Int) -> String {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        return (words.dropLast() + ["\((turn(of: line) + degrees) % 360)"]).joined(separator: " ")
    }
}
