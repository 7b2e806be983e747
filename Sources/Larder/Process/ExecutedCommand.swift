import Foundation
import Sandbox
import ServiceLifecycle
import Synchronization

/// A command that runs while the server does, in a process group of its own, which ends with it.
final class ExecutedCommand: Service {
    private let words: [String]
    private let spaceCount: Int
    private let status = Mutex<Int32?>(nil)
    private let (servers, announcing) = AsyncStream.makeStream(
        of: (addresses: ServerAddresses, spaces: (any HarnessedSpaces)?).self
    )

    /// - Parameters:
    ///   - words: the command and its arguments.
    ///   - spaces: how many spaces it gets.
    init(_ words: [String], spaces: Int) {
        self.words = words
        spaceCount = spaces
    }

    /// Exit code of the command as a shell tells it; nil if it was not started.
    var exitCode: Int32? { status.withLock { $0 } }

    /// Starts the command, once its spaces are made.
    @Sendable func begin(_ addresses: ServerAddresses, _ spaces: (any HarnessedSpaces)?) {
        announcing.yield((addresses, spaces))
    }

    func run() async throws {
        var iterator = servers.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let server = await iterator.next() else { return }
        let spaces = try await makeSpaces(in: server.spaces)
        let process = try CommandProcess(words, environment: Self.environment(server.addresses, spaces))
        let code = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await process.ended()
            } onGracefulShutdown: {
                process.signal(SIGTERM)
            }
        } onCancel: {
            // It has had the time to stop that requests have.
            process.signal(SIGKILL)
        }
        process.endGroup()
        status.withLock { $0 = code }
    }

    /// Makes the spaces, which end with the command.
    private func makeSpaces(in spaces: (any HarnessedSpaces)?) async throws -> [SpaceDescription] {
        var order = SpaceOrder()
        order.idle = nil
        var made: [SpaceDescription] = []
        while let spaces, made.count < spaceCount { made.append(try await spaces.make(order)) }
        return made
    }

    /// The variables of this process, and the addresses.
    private static func environment(_ addresses: ServerAddresses, _ spaces: [SpaceDescription]) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        variables["LARDER_URL"] = addresses.server
        variables["LARDER_SANDBOX_URL"] = addresses.sandboxPort.map { "http://127.0.0.1:\($0)" }
        variables["LARDER_SPACES"] = "[\(spaces.map(\.json).joined(separator: ","))]"
        return variables
    }
}
