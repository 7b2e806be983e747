package import Foundation
import Freshness
package import Logging
package import ServiceLifecycle

/// Removes what has expired while the server runs: at once, and then every ten minutes. Whatever has expired is
/// invisible before, or does no harm: removing it frees its space.
package struct ExpiryService: Service {
    /// Time between two runs.
    package static let interval: Duration = .seconds(600)

    private let title: String
    private let retention: RetentionClock
    private let logger: Logger
    private let purge: @Sendable (_ now: Date) async throws -> Int

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - title: what expires, for the log: `expired drafts`.
    ///   - purge: removes what has expired by a time, and returns how much that was.
    package init(
        of title: String,
        by retention: RetentionClock,
        logger: Logger,
        purge: @escaping @Sendable (_ now: Date) async throws -> Int
    ) {
        self.title = title
        self.retention = retention
        self.logger = logger
        self.purge = purge
    }

    /// Removes until the server stops.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await self.purgeOnce()
            while !Task.isCancelled {
                do { try await self.retention.clock.run(after: Self.interval) { await self.purgeOnce() } } catch {
                    return
                }
            }
        }
    }

    private func purgeOnce() async {
        do {
            let count = try await purge(retention.reading())
            if count > 0 { logger.info("\(title) were removed", metadata: ["count": "\(count)"]) }
        } catch is CancellationError {
            // The server stops; the next start removes the rest.
        } catch {
            // The next run tries again.
            logger.error("\(title) could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
