import Foundation

/// The listeners of the event stream, indexed by audience: an event costs what its audience costs. A value without
/// locks.
struct EventListeners: Sendable {
    /// A listener.
    struct Listener: Sendable {
        let messages: AsyncStream<EventStream.Message>.Continuation
        /// The audiences that it belongs to; nil for all.
        let audiences: Set<ServerEvent.Audience>?
        /// The apps of its sessions by the hashes of their tokens.
        let sessionApps: [Data: String]
        /// The address of its client, or its network; nil if it has none.
        var client: String?
    }

    private var listeners: [Int: Listener] = [:]
    private var byAudience: [ServerEvent.Audience: Set<Int>] = [:]
    private var ofAllAudiences: Set<Int> = []
    private var bySession: [Data: Set<Int>] = [:]
    private var byClient: [String: Set<Int>] = [:]

    /// Number of listeners.
    var count: Int { listeners.count }
    /// The numbers of all listeners.
    var numbers: [Int] { Array(listeners.keys) }

    subscript(_ number: Int) -> Listener? { listeners[number] }

    /// Returns the numbers of the listeners that receive an audience's events.
    func numbers(of audience: ServerEvent.Audience) -> [Int] { Array(byAudience[audience] ?? []) + ofAllAudiences }

    /// Returns the numbers of the listeners of a session.
    func numbers(ofSession tokenHash: Data) -> [Int] { Array(bySession[tokenHash] ?? []) }

    /// Returns the listener that ends so that another one of a client has room: the oldest one of that client if it has
    /// as many as it may have, else of the client that has most if there are as many as there may be.
    ///
    /// - Parameters:
    ///   - limits: Largest number of listeners of one client, and of all.
    func displaced(by client: String, limits: (client: Int, all: Int)) -> Int? {
        if let own = byClient[client], own.count >= limits.client { return own.min() }
        guard count >= limits.all else { return nil }
        return byClient.values.max { $0.count < $1.count }?.min()
    }

    mutating func add(_ listener: Listener, _ number: Int) {
        listeners[number] = listener
        if let client = listener.client { byClient[client, default: []].insert(number) }
        if listener.audiences == nil { ofAllAudiences.insert(number) }
        for audience in listener.audiences ?? [] { byAudience[audience, default: []].insert(number) }
        for tokenHash in listener.sessionApps.keys { bySession[tokenHash, default: []].insert(number) }
    }

    /// Returns the listener that was removed; nil if it was already.
    mutating func remove(_ number: Int) -> Listener? {
        guard let listener = listeners.removeValue(forKey: number) else { return nil }
        ofAllAudiences.remove(number)
        if let client = listener.client {
            byClient[client]?.remove(number)
            if byClient[client]?.isEmpty == true { byClient[client] = nil }
        }
        for audience in listener.audiences ?? [] {
            byAudience[audience]?.remove(number)
            if byAudience[audience]?.isEmpty == true { byAudience[audience] = nil }
        }
        for tokenHash in listener.sessionApps.keys {
            bySession[tokenHash]?.remove(number)
            if bySession[tokenHash]?.isEmpty == true { bySession[tokenHash] = nil }
        }
        return listener
    }
}
