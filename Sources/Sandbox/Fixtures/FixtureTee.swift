import Foundation
import Synchronization

/// Collects the body of a response while it passes: a short one in memory, a longer one in a file.
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

    /// Creates a collection for a response of an upstream.
    package init(_ fixtures: UpstreamFixtures) { self.fixtures = fixtures }

    deinit {
        // A body that was not read to its end is none of a recording.
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

    /// The whole body. Nothing may be added any more.
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
