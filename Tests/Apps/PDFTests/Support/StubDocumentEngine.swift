import Foundation
import Media
import Synchronization

@testable import PDF

/// An engine whose files are lists of pages as text, so that a test can read a document's pages in its file. A file is
/// `%PDF-paper`, followed by a line for each page with its rotation in degrees.
///
/// The line of a photo is the text after its signature. A photo with the text `damaged`, `encrypted`, `bytes`,
/// `pixels`, `slow` or `missing` fails with that error. Any call can be held.
final class StubDocumentEngine: Sendable {
    private struct State {
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var calls: [String] = []
        var options: [PictureOptions] = []
        var imports = 0
        var drawing: MediaError?
        var failure: MediaError?
    }

    private let state = Mutex(State())
    static let header = "%PDF-paper\n"
    static let charactersOfAPage = 20

    /// The calls so far, by the names of its functions.
    var calls: [String] { state.withLock { $0.calls } }

    /// The options of the calls for pictures.
    var options: [PictureOptions] { state.withLock { $0.options } }
    /// How many files of clients it has imported.
    var imports: Int { state.withLock { $0.imports } }

    /// From now on drawing a page fails; nil: it does not.
    func failDrawing(_ error: MediaError?) { state.withLock { $0.drawing = error } }

    /// From now on every call fails.
    func fail(_ error: MediaError) { state.withLock { $0.failure = error } }

    /// From now on calls wait until ``release()``.
    func hold() { state.withLock { $0.isHolding = true } }

    /// Lets the waiting calls continue.
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
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    var engine: DocumentEngine {
        DocumentEngine(pages: pages, compose: compose, textPages: textPages, picture: picture)
    }

    @Sendable private func pages(
        _ pictures: [PictureSource],
        _ options: PictureOptions,
        _ title: String?,
        _ output: URL,
        _ progress: @escaping DocumentEngine.Progress
    ) async throws -> PDFDocumentSummary {
        try await enter("pages")
        var lines: [String] = []
        for (index, picture) in pictures.enumerated() {
            guard case .file(let url) = picture else { throw MediaError.unsupported("bytes") }
            let data = try Data(contentsOf: url)
            guard let format = PictureFormat(signature: data) else { throw MediaError.unsupported("no picture") }
            let text = String(decoding: data, as: UTF8.self)
            if let error = Self.error(in: text) { throw MediaError.OfInput(index: index, error: error) }
            lines.append("\(format) \(text.split(separator: "|").last ?? "") 0")
            progress(JobProgress(done: index + 1, total: pictures.count))
        }
        try Self.write(lines, output, title: title)
        let page = options.layout == .a4 ? Self.a4 : Self.photo
        state.withLock { $0.options.append(options) }
        let notices = lines.indices.filter { lines[$0].contains("moving") }.map {
            InputNotice(input: $0, kind: .firstPictureOnly)
        }
        return PDFDocumentSummary(pages: lines.map { _ in page }, notices: notices)
    }

    @Sendable private func compose(
        _ composition: DocumentEngine.Composition,
        _ output: URL,
        _ progress: @escaping DocumentEngine.Progress
    ) async throws -> PDFDocumentSummary {
        try await enter("compose")
        let (pages, sources) = (composition.pages, composition.sources)
        for source in sources where pages == nil && sources.count == 1 {
            let text = String(decoding: try Data(contentsOf: source), as: UTF8.self)
            if let error = Self.error(in: text), error != .encrypted || composition.password != "secret" { throw error }
        }
        let all = try sources.map { try Self.lines($0.path) }
        state.withLock { $0.imports += composition.isImport ? 1 : 0 }
        progress(JobProgress(done: 1, total: 2))
        let lines =
            pages.map { $0.map { Self.turned(all[$0.source][$0.page - 1], by: $0.rotateBy) } } ?? all.flatMap(\.self)
        let title = try composition.title ?? sources.first.flatMap { try Self.title($0.path) }
        try Self.write(lines, output, title: title)
        return PDFDocumentSummary(pages: lines.map(Self.page))
    }

    @Sendable private func textPages(
        _ text: String,
        _ locale: String?,
        _ output: URL,
        _ progress: @escaping DocumentEngine.Progress
    ) async throws -> PDFDocumentSummary {
        try await enter("textPages")
        let characters = Array(text.replacing("\n", with: " "))
        let pieces = stride(from: 0, to: characters.count, by: Self.charactersOfAPage).map {
            String(characters[$0..<min(characters.count, $0 + Self.charactersOfAPage)])
        }
        try Self.write(pieces.map { "text \($0)\(locale.map { " (\($0))" } ?? "") 0" }, output)
        return PDFDocumentSummary(pages: pieces.map { _ in Self.a4 }, missingGlyphs: text.contains("☃") ? ["☃"] : [])
    }

    @Sendable private func picture(_ page: Int, _ file: URL, _: PDFPage, _ width: Int) async throws -> RenderedPicture {
        try await enter("picture")
        if let error = state.withLock({ $0.drawing }) { throw error }
        guard let lines = try? Self.lines(file.path) else { throw MediaError.damaged("no file") }
        let data = Data("\(lines[page - 1]) at \(width)".utf8)
        return RenderedPicture(data: data, format: .jpeg, width: width, height: width)
    }

    private static let a4 = PDFPage(width: 595, height: 842, rotation: 0)
    private static let photo = PDFPage(width: 30, height: 40, rotation: 0)

    /// A page as Media describes it: in its displayed orientation.
    private static func page(of line: String) -> PDFPage {
        if PictureFormat.allCases.contains(where: { line.hasPrefix("\($0) ") }) { return photo }
        let rotation = turn(of: line)
        let isTurned = rotation % 180 != 0
        return PDFPage(width: isTurned ? 200 : 100, height: isTurned ? 100 : 200, rotation: rotation)
    }

    private static func error(in text: String) -> MediaError? {
        if text.contains("damaged") { return .damaged("it says so") }
        if text.contains("encrypted") { return .encrypted }
        if text.contains("bytes") { return .tooLarge(.bytes(limit: 64 << 20)) }
        if text.contains("pixels") { return .tooLarge(.pixels(limit: 100_000_000)) }
        if text.contains("slow") { return .timedOut(.vips) }
        if text.contains("missing") { return .toolMissing(.vips) }
        return nil
    }

    static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        return text.dropFirst(header.count).split(separator: "\n").filter { !$0.hasPrefix("%") }.map(String.init)
    }

    /// The title in a file.
    static func title(_ path: String) throws -> String? {
        try title(in: String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self))
    }

    static func title(in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("%title ") }.map { String($0.dropFirst(7)) }
    }

    private static func write(_ lines: [String], _ output: URL, title: String? = nil) throws {
        let comment = title.map { "%title \($0)\n" } ?? ""
        try Data((header + comment + lines.joined(separator: "\n")).utf8).write(to: output)
    }

    private static func turn(of line: String) -> Int { line.split(separator: " ").last.flatMap { Int($0) } ?? 0 }

    private static func turned(_ line: String, by degrees: Int) -> String {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        return (words.dropLast() + ["\((turn(of: line) + degrees) % 360)"]).joined(separator: " ")
    }
}
