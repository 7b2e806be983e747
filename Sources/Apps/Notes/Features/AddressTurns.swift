/// A queue in which the addresses that wait take turns, whatever the number of elements of each. It is bounded in all
/// and for each address.
struct AddressTurns<Element: Sendable>: Sendable {
    let maximum: Int
    let maximumPerAddress: Int
    private var waiting: [String?: [Element]] = [:]
    /// Addresses with elements, the next one first.
    private var addresses: [String?] = []
    private var count = 0

    init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Appends an element.
    ///
    /// - Returns: false if the queue, or the part of the address, is full.
    mutating func append(_ element: Element, from address: String?) -> Bool {
        let own = waiting[address]?.count ?? 0
        guard count < maximum, own < maximumPerAddress else { return false }
        if own == 0 { addresses.append(address) }
        waiting[address, default: []].append(element)
        count += 1
        return true
    }

    /// Removes and returns the first element of the next address; nil if the queue is empty.
    mutating func next() -> Element? {
        guard !addresses.isEmpty else { return nil }
        let address = addresses.removeFirst()
        guard var elements = waiting[address], !elements.isEmpty else { return nil }
        let element = elements.removeFirst()
        waiting[address] = elements.isEmpty ? nil : elements
        if !elements.isEmpty { addresses.append(address) }
        count -= 1
        return element
    }
}
