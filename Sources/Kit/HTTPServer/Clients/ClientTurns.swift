/// Things that wait, each of a client, in turns of the clients: one of each, then the next of each (RFC 970).
struct ClientTurns<Client: Hashable, Element> {
    private var waiting: [Client: ArraySlice<Element>] = [:]
    /// Clients with something that waits, in the order of their turns.
    private var turns: ArraySlice<Client> = []

    /// Whether nothing waits.
    var isEmpty: Bool { turns.isEmpty }

    /// Number of things of a client that wait.
    func count(of client: Client) -> Int { waiting[client]?.count ?? 0 }

    /// Adds something behind what its client has waiting.
    mutating func append(_ element: Element, of client: Client) {
        if waiting[client] == nil { turns.append(client) }
        waiting[client, default: []].append(element)
    }

    /// Removes what is next.
    mutating func popFirst() -> Element? {
        guard let client = turns.popFirst(), let element = waiting[client]?.popFirst() else { return nil }
        if waiting[client]?.isEmpty ?? true { waiting[client] = nil } else { turns.append(client) }
        return element
    }
}
