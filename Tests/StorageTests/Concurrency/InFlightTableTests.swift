import Testing

@testable import Concurrency

struct InFlightTableTests {
    private var table = InFlightTable<String, String>()

    private mutating func join(_ key: String, _ waiter: String) -> (
        role: InFlightTable<String, String>.Role, ticket: InFlightTable<String, String>.Ticket
    ) {
        let ticket = table.makeTicket()
        return (table.join(key, waiter, ticket: ticket), ticket)
    }

    @Test("The first leads, the others follow; keys are apart")
    mutating func roles() {
        #expect(join("a", "1").role == .lead)
        #expect(join("a", "2").role == .follow)
        #expect(join("b", "3").role == .lead)
        #expect(Set(table.complete("a")) == ["1", "2"])
        #expect(table.complete("b") == ["3"])
    }

    @Test("After completion the next one leads again, and no waiter is resumed twice")
    mutating func landing() {
        _ = join("a", "1")
        #expect(table.complete("a") == ["1"])
        #expect(table.complete("a").isEmpty)
        #expect(join("a", "2").role == .lead)
    }

    @Test("A waiter that leaves gets no result; the flight continues, even without waiters")
    mutating func leaving() {
        let (_, ticket) = join("a", "1")
        #expect(table.leave("a", ticket: ticket) == "1")
        #expect(table.leave("a", ticket: ticket) == nil)
        #expect(join("a", "2").role == .follow)
        #expect(table.complete("a") == ["2"])
        #expect(table.leave("a", ticket: ticket) == nil)
    }

    @Test("A ticket is of one flight: it opens nothing in the next of the same key")
    mutating func tickets() {
        let (_, old) = join("a", "1")
        _ = table.complete("a")
        let (_, new) = join("a", "2")
        #expect(old != new)
        #expect(table.leave("a", ticket: old) == nil)
        #expect(table.leave("b", ticket: new) == nil)
        #expect(table.complete("a") == ["2"])
    }
}
