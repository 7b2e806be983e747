import Crypto
package import Foundation
package import HTTPTypes
import Synchronization

/// A request of the server to an upstream.
package struct FixtureRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Path and query below the base URL of the upstream; the absolute URL if it is sent elsewhere.
    package var target: String
    package var headerFields: HTTPFields
    package var body: FixtureBody?

    package init(method: HTTPRequest.Method, target: String, headerFields: HTTPFields, body: FixtureBody? = nil) {
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
    }

    /// Its body as text, without its content coding; nil if it is longer than the kept part, or no text.
    var text: String? {
        guard let body, headerFields[.contentEncoding] != nil else { return body?.text }
        guard body.count == body.start.count else { return nil }
        let decoded = ContentCoding.decoded(body.start, headerFields, atMost: FixtureBody.limit)
        return decoded.flatMap { $0.contains(0) ? nil : String(validating: $0, as: UTF8.self) }
    }
}

/// The parts of a request body that are compared: its beginning and its digest.
package struct FixtureBody: Sendable {
    /// Most bytes of the start.
    static let limit = 1 << 16

    private var digest = SHA256()
    private(set) var start: [UInt8] = []
    /// Bytes in all.
    private(set) var count = 0

    package init() {}

    package init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        digest.update(bufferPointer: bytes)
        start += bytes.prefix(Self.limit - start.count)
        count += bytes.count
    }

    /// Hexadecimal.
    var sha256: String { Hexadecimal.text(digest.finalize()) }

    /// The whole body as text; nil if it is longer than the kept part, or no text.
    var text: String? {
        guard count == start.count, !start.contains(0) else { return nil }
        return String(validating: start, as: UTF8.self)
    }
}

/// A response of an upstream, or of a file for it.
package struct FixtureResponse: Sendable {
    /// The place of its body.
    package enum Content: Sendable, Equatable {
        case bytes([UInt8])
        /// In a file, with its size.
        case file(URL, Int)

        /// Bytes in all.
        package var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .file(_, let count): count
            }
        }
    }

    package var status: HTTPResponse.Status
    package var headerFields: HTTPFields
    package var content: Content

    package init(status: HTTPResponse.Status, headerFields: HTTPFields, content: Content) {
        self.status = status
        self.headerFields = headerFields
        self.content = content
    }

    /// The whole body.
    /// - Throws: The errors of the file system.
    package func bytes() throws -> [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .file(let url, _): Array(try Data(contentsOf: url))
        }
    }
}

/// Why fixtures cannot be used.
package enum FixtureError: Error, Sendable, CustomStringConvertible {
    /// The mode needs a folder, and the settings name none.
    case noFolder(upstream: String)
    /// The server is a space, which writes nothing into the folder that all spaces read.
    case readOnly(upstream: String)
    /// A file cannot be written.
    case notWritten(file: String, reason: String, isFull: Bool)
    /// A file could not be read again.
    case notReadable(file: String, reason: String)
    /// A file would contain a secret, or a value that looks like one.
    case secret(request: String, reason: String)

    /// For a log or a terminal.
    package var description: String {
        switch self {
        case .noFolder(let upstream): "upstreams.\(upstream).fixtures names no folder"
        case .readOnly(let upstream): "the recordings of \(upstream) are shared by all spaces, which only read them"
        case .notWritten(let file, let reason, _): "\(file) cannot be written: \(reason)"
        case .notReadable(let file, let reason): "\(file) is not written, since it could not be read: \(reason)"
        case .secret(let request, let reason): "\(request) is not recorded: \(reason)"
        }
    }

    init(writing file: String, _ error: any Error) {
        let code = (error as? CocoaError)?.code
        self = .notWritten(file: file, reason: error.localizedDescription, isFull: code == .fileWriteOutOfSpace)
    }
}

/// Collects the body of a response while it is forwarded: a short one in memory, a longer one in a file.
package final class FixtureTee: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var file: URL?
        var handle: FileHandle?
        var count = 0
        var isOver = false
    }

    private let fixtures: UpstreamFixtures
    private let state = Mutex(State())

    package init(_ fixtures: UpstreamFixtures) { self.fixtures = fixtures }

    deinit {
        // A body that was not read to its end is not recorded.
        state.withLock { state in
            if let file = state.file, !state.isOver { try? FileManager.default.removeItem(at: file) }
        }
    }

    /// Adds a part.
    /// - Throws: ``FixtureError``.
    package func append(_ part: UnsafeRawBufferPointer) throws(FixtureError) {
        let result = state.withLock { state -> Result<Void, FixtureError> in
            Result { () throws(FixtureError) in try self.append(part, &state) }
        }
        try result.get()
    }

    private func append(_ part: UnsafeRawBufferPointer, _ state: inout State) throws(FixtureError) {
        state.count += part.count
        if state.handle == nil, state.count <= Fixture.inline {
            state.bytes += part
            return
        }
        do {
            if state.handle == nil {
                let file = try fixtures.bodyFile()
                state.file = file
                state.handle = try FileHandle(forWritingTo: file)
                try state.handle?.write(contentsOf: state.bytes)
                state.bytes = []
            }
            try state.handle?.write(contentsOf: Data(part))
        } catch let error as FixtureError {
            throw error
        } catch {
            throw FixtureError(writing: state.file?.path ?? "", error)
        }
    }

    /// Returns the whole body. No part may be added afterwards.
    /// - Throws: ``FixtureError``.
    package func finish() throws(FixtureError) -> FixtureResponse.Content {
        let result = state.withLock { state -> Result<FixtureResponse.Content, FixtureError> in
            state.isOver = true
            guard let file = state.file else { return .success(.bytes(state.bytes)) }
            do {
                try state.handle?.close()
                return .success(.file(file, state.count))
            } catch {
                return .failure(FixtureError(writing: file.path, error))
            }
        }
        return try result.get()
    }
}
