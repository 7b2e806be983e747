import Foundation
import ServiceLifecycle
import Synchronization

/// A command that runs while the server does, in a process group of its own, which ends with it.
final class ExecutedCommand: Service {
    private let words: [String]
    private let status = Mutex<Int32?>(nil)
    private let (addresses, announcing) = AsyncStream.makeStream(of: ServerAddresses.self)

    /// - Parameter words: the command and its arguments.
    init(_ words: [String]) {
        self.words = words
    }

    /// Exit code of the command as a shell tells it; nil if it was not started.
    var exitCode: Int32? { status.withLock { $0 } }

    /// Starts the command.
    func begin(_ addresses: ServerAddresses) { announcing.yield(addresses) }

    func run() async throws {
        var iterator = addresses.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let addresses = await iterator.next() else { return }
        let process = try CommandProcess(words, environment: Self.environment(addresses))
        let code = await withGracefulShutdownHandler {
            await process.ended()
        } onGracefulShutdown: {
            process.signal(SIGTERM)
        }
        process.endGroup()
        status.withLock { $0 = code }
    }

    /// The variables of this process, and the addresses.
    private static func environment(_ addresses: ServerAddresses) -> [String: String] {
        var variables = ProcessInfo.processInfo.environment
        variables["LARDER_URL"] = addresses.server
        variables["LARDER_SANDBOX_URL"] = addresses.sandboxPort.map { "http://127.0.0.1:\($0)" }
        return variables
    }
}
