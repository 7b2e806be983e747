/// The text of an event stream, taken apart (HTML Living Standard §9.2.6).
struct ServerSentEvents {
    struct Event: Equatable {
        var id: String?
        var kind: String
        var data: String
    }

    /// Events that are complete.
    private(set) var events: [Event] = []
    /// Identity from which to come back.
    private(set) var lastID: String?

    init(_ text: String) {
        // A block after the last empty line is not complete.
        for block in text.components(dividedBy: "\n\n").dropLast() {
            var kind: String?
            var data: [String] = []
            for line in block.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
                switch parts[0] {
                case "id": lastID = value
                case "event": kind = value
                case "data": data.append(value)
                default: break
                }
            }
            if !data.isEmpty {
                events.append(Event(id: lastID, kind: kind ?? "message", data: data.joined(separator: "\n")))
            }
        }
    }
}

extension String {
    fileprivate func components(dividedBy divider: String) -> [Substring] {
        split(separator: divider, omittingEmptySubsequences: false)
    }
}
