import NIOCore
import NIOHTTP1

/// Follows the exchanges of a connection, for a handler ahead of the decoder. Called on the event loop.
protocol ExchangeObserver: AnyObject {
    /// A request is passed to the application.
    func requestBegins(_ head: HTTPRequestHead)
    /// The head of its response is written next; nothing but the response is written until it ends.
    func responseBegins(_ annotations: ResponseAnnotations.Values)
    /// Its response has been written, and the connection stays open.
    func responseEnded(now: NIODeadline)
    /// Its response is not complete, or ends the connection.
    func responseAbandoned()
}
