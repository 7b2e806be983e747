import NIOCore

/// For a handler ahead of the decoder that responds to requests while no other request is under way.
extension ConnectionHandler {
    /// Whether a request that arrived now would get its response at once, with the connection staying open.
    var isAtRest: Bool {
        state.isAtRest && held.isEmpty && isWritable
    }

    /// Whether a request that arrived now would wait for the response before it.
    var holdsRequests: Bool {
        switch state.intake {
        case .process: !held.isEmpty
        case .hold: true
        case .discard: false
        }
    }

    /// Notes that requests of this many bytes got their responses ahead of the decoder, and that these were flushed.
    func servedFromCache(bytes: Int, now: NIODeadline) {
        unparsed.servedFromCache(bytes: bytes)
        state.servedFromCache(now: now)
        if let context { watchWrites(context) }
    }

    /// Notes that the last of them ends the connection, which is closed once the client has taken it.
    func servedLastFromCache() {
        state.servedLastFromCache()
        if let context { drain(context) }
    }
}
