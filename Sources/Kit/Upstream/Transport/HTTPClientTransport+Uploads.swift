import AsyncHTTPClient
import NIOCore
import NIOPosix
import Synchronization

extension HTTPClientTransport {
    /// Clients for requests with bodies in parts, one on each event loop.
    ///
    /// async-http-client hands a part of a body to the event loop of its connection and asks for the next one at once,
    /// until that event loop notices that the socket takes no more. If the event loop is the slower of the two, all of
    /// a large body waits in its queue of tasks, however fast the upstream reads. So the source is asked for the next
    /// part only when the event loop has processed the one before. That requires to know the event loop, and a client
    /// on one event loop has no other.
    final class Uploads: Sendable {
        /// A client and the event loop of its connections.
        struct Lane: Sendable {
            let client: HTTPClient
            fileprivate let eventLoop: any EventLoop

            /// Returns when the event loop has run all tasks that were submitted before: it runs them in order.
            @Sendable func caughtUp() async throws {
                try await eventLoop.submit {}.get()
            }
        }

        private let lanes: [Lane]
        private let count = Atomic<UInt>(0)

        init(on group: MultiThreadedEventLoopGroup, configuration: HTTPClient.Configuration) {
            lanes = group.makeIterator().map {
                Lane(
                    client: HTTPClient(eventLoopGroupProvider: .shared($0), configuration: configuration),
                    eventLoop: $0
                )
            }
        }

        /// Returns the next lane, in turns.
        func next() -> Lane {
            lanes[Int(count.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(lanes.count))]
        }

        func shutdown() async throws {
            for lane in lanes { try await lane.client.shutdown() }
        }
    }
}
