/// Elements in an order, each once. One is found in as many steps as the number of them has digits. The first one is
/// removed, and a last one added, without moving the others.
public struct SortedElements<Element: Sendable>: Sendable {
    /// The elements in order.
    public private(set) var elements: ArraySlice<Element>
    private let precedes: @Sendable (Element, Element) -> Bool

    /// Sorts elements by a strict order, in which no two are equal.
    public init(_ elements: [Element] = [], by precedes: @escaping @Sendable (Element, Element) -> Bool) {
        self.self.elements = elements.sorted(by: precedes)[...]
        self.precedes = precedes
    }

    /// Adds an element, in place of an equal one.
    public mutating func insert(_ element: Element) {
        let position = position(of: element)
        if isEqual(position, element) { elements[position] = element } else { elements.insert(element, at: position) }
    }

    /// Removes an element, if it is there.
    public mutating func remove(_ element: Element) {
        let position = position(of: element)
        guard isEqual(position, element) else { return }
        guard position == elements.startIndex else {
            elements.remove(at: position)
            return
        }
        elements.removeFirst()
        // What was before the first one is kept until it is as much as the rest.
        if elements.startIndex > elements.count { elements = Array(elements)[...] }
    }

    private func isEqual(_ position: Int, _ element: Element) -> Bool {
        position < elements.endIndex && !precedes(element, elements[position])
    }

    /// Returns the position of the first element that does not precede another one.
    private func position(of element: Element) -> Int {
        // Most are added at the end.
        if let last = elements.last, precedes(last, element) { return elements.endIndex }
        var (low, high) = (elements.startIndex, elements.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if precedes(elements[middle], element) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
