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
    }

    private var listeners: [Int: Listener] = [:]
    private var byAudience: [ServerEvent.Audience: Set<Int>] = [:]
    private var ofAllAudiences: Set<Int> = []
    private var bySession: [Data: Set<Int>] = [:]

    /// Number of listeners.
    var count: Int { listeners.count }
    /// The numbers of all listeners.
    var numbers: [Int] { Array(listeners.keys) }

    subscript(_ number: Int) -> Listener? { listeners[number] }

    /// Returns the numbers of the listeners that receive an audience's events.
    func numbers(of audience: ServerEvent.Audience) -> [Int] { Array(byAudience[audience] ?? []) + ofAllAudiences }

    /// Returns the numbers of the listeners of a session.
    func numbers(ofSession tokenHash: Data) -> [Int] { Array(bySession[tokenHash] ?? []) }

    mutating func add(_ listener: Listener, _ number: Int) {
        listeners[number] = listener
        if listener.audiences == nil { ofAllAudiences.insert(number) }
        for audience in listener.audiences ?? [] { byAudience[audience, default: []].insert(number) }
        for tokenHash in listener.sessionApps.keys { bySession[tokenHash, default: []].insert(number) }
    }

    /// Returns the listener that was removed; nil if it was already.
    mutating func remove(_ number: Int) -> Listener? {
        guard let listener = listeners.removeValue(forKey: number) else { return nil }
        ofAllAudiences.remove(number)
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
