package import Testing

@testable package import Screens

extension EventStream {
    /// Every event published so far, to all clients and to accounts. The stream's `run` must be `test`.
    package var published: [ServerEvent] {
        let subscription = subscribe(lastEventID: "test-0")
        defer { unsubscribe(subscription.number) }
        return subscription.missed.map(\.event)
    }

    /// Returns as soon as an event of this kind and text has been published.
    package func published(
        _ kind: String,
        containing text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await BoundedWait.run(for: "an event \(kind) with \(text)", at: sourceLocation) {
            await self.hasPublished(kind, text)
        }
    }

    /// Returns true once an event has been published, false if the task is cancelled before.
    private func hasPublished(_ kind: String, _ text: String) async -> Bool {
        let subscription = subscribe(lastEventID: "test-0")
        defer { unsubscribe(subscription.number) }
        let matches = { (event: ServerEvent) in event.kind == kind && event.json.contains(text) }
        if subscription.missed.contains(where: { matches($0.event) }) { return true }
        for await message in subscription.messages {
            if case .event(_, let event) = message, matches(event) { return true }
        }
        return false
    }
}
