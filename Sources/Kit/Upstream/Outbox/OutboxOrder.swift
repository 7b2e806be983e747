/// Says whose turn it is: the operations of one account in their order, and which of them hold up others.
///
/// Operations run one at a time in their order. One that the user has to decide about holds up those that touch the
/// same places, or places above or below, and those that touch theirs; the others go on. Each change takes as many
/// steps as operations are held up by it, and none of them looks through the queue.
public struct OutboxOrder<Place: OutboxPlace>: Sendable {
    private var places = OutboxPlaces<Place>()
    private var touched: [Int64: [Place]] = [:]
    private var stuck: Set<Int64> = []
    /// How many earlier operations hold up one; none that is not held up.
    private var holders: [Int64: Int] = [:]
    private(set) var ready = SortedElements<Int64>(by: <)
    /// Operations that were looked at so far.
    private(set) var steps = 0

    /// Creates the order of no operations.
    public init() {}

    /// The first two operations that may run, if their time has come.
    var first: ArraySlice<Int64> { Array(ready.elements.prefix(2))[...] }

    /// Adds an operation, or changes it.
    ///
    /// - Parameters:
    ///   - number: Its number in the order.
    ///   - places: The places that it touches.
    ///   - isStuck: Whether the user has to decide about it.
    public mutating func put(_ number: Int64, _ places: [Place], isStuck: Bool) {
        if touched[number] != places {
            remove(number)
            insert(number, places)
        }
        guard stuck.contains(number) != isStuck else { return }
        let wasHeld = isBlocked(number)
        if isStuck { stuck.insert(number) } else { stuck.remove(number) }
        if isBlocked(number) != wasHeld { changed(number) }
    }

    /// Removes an operation.
    public mutating func remove(_ number: Int64) {
        guard let places = touched[number] else { return }
        let wasBlocked = isBlocked(number)
        stuck.remove(number)
        holders[number] = nil
        if wasBlocked { changed(number) }
        ready.remove(number)
        self.places.remove(number, places)
        touched[number] = nil
    }

    /// Returns the operations that touch one of several places, one above or one below, in order.
    public func touching(_ places: [Place]) -> [Int64] { self.places.touching(places).sorted() }

    /// Whether an operation touches one of several places, one above or one below.
    public func isTouched(_ places: [Place]) -> Bool { self.places.isTouched(places) }

    /// Returns the operations that touch a place, or one below it.
    func inside(_ place: Place) -> Set<Int64> { places.inside(place) }

    /// Returns the operations that touch a place above one.
    func above(_ place: Place) -> Set<Int64> { places.above(place) }

    private func isBlocked(_ number: Int64) -> Bool { stuck.contains(number) || holders[number] != nil }

    private mutating func insert(_ number: Int64, _ places: [Place]) {
        touched[number] = places
        // If none is stuck, none is held up.
        let count = stuck.isEmpty ? 0 : self.places.touching(places).count { $0 < number && isBlocked($0) }
        self.places.insert(number, places)
        if count > 0 { holders[number] = count }
        if count > 0 { changed(number) } else { ready.insert(number) }
    }

    /// Holds up later operations, or lets them go on, after an operation is blocked or is not blocked any more.
    private mutating func changed(_ number: Int64) {
        var changed = [number]
        while let number = changed.popLast() {
            let isBlocked = isBlocked(number)
            if isBlocked { ready.remove(number) } else { ready.insert(number) }
            let later = places.touching(touched[number] ?? [])
            steps += later.count
            for later in later where later > number {
                let wasBlocked = self.isBlocked(later)
                let count = (holders[later] ?? 0) + (isBlocked ? 1 : -1)
                holders[later] = count > 0 ? count : nil
                if self.isBlocked(later) != wasBlocked { changed.append(later) }
            }
        }
    }
}
