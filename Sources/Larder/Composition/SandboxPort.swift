import Foundation
import Logging
import NIOCore
import NIOPosix

/// The port that the sandbox used with a data directory. Stored responses are known by the address of their upstream,
/// so the sandbox uses the same port again: otherwise nothing that was cached before a restart would be found.
struct SandboxPort {
    private let file: URL

    init(in dataDirectory: URL) {
        file = dataDirectory.appending(path: "sandbox.port")
    }

    /// Returns the last port; 0, for any free one, if there was none or another process uses it.
    func last() async -> Int {
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)),
            (1...65535).contains(port), await Self.isFree(port)
        else { return 0 }
        return port
    }

    /// Stores the port for the next start. If that fails, what is stored is not found then.
    func note(_ port: Int, logger: Logger) {
        do {
            try Data("\(port)\n".utf8).write(to: file, options: .atomic)
        } catch {
            logger.warning(
                "the sandbox's port could not be noted: its next one may be another",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private static func isFree(_ port: Int) async -> Bool {
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).serverChannelOption(
                .socketOption(.so_reuseaddr),
                value: 1
            )
            try await bootstrap.bind(host: "127.0.0.1", port: port).get().close()
            return true
        } catch {
            return false
        }
    }
}
