import DequeModule

/// Elements that wait, each of a client, in turns of the clients: one of each, then the next of each (RFC 970). It is
/// bounded in all and for each client.
package struct RoundRobinQueue<Client: Hashable, Element> {
    private let maximum: Int
    private let maximumPerClient: Int
    private var waiting: [Client: Deque<Element>] = [:]
    /// Clients with waiting elements, the next one first.
    private var scheduled: Deque<Client> = []
    private var count = 0

    package init(maximum: Int = .max, maximumPerClient: Int = .max) {
        (self.maximum, self.maximumPerClient) = (maximum, maximumPerClient)
    }

    package var isEmpty: Bool { scheduled.isEmpty }

    /// Adds an element after the others of its client.
    ///
    /// - Returns: False if the queue, or the part of the client, is full.
    package mutating func append(_ element: Element, of client: Client) -> Bool {
        guard count < maximum, waiting[client]?.count ?? 0 < maximumPerClient else { return false }
        if waiting[client] == nil { scheduled.append(client) }
        waiting[client, default: []].append(element)
        count += 1
        return true
    }

    package mutating func popFirst() -> Element? {
        guard let client = scheduled.popFirst(), let element = waiting[client]?.popFirst() else { return nil }
        if waiting[client]?.isEmpty ?? true { waiting[client] = nil } else { scheduled.append(client) }
        count -= 1
        return element
    }
}
