import Synchronization

/// The keys of a gazetteer, made by the first search: a start need not wait for them.
final class GazetteerIndex: Sendable {
    /// A folded name, or the later words of one, with its city.
    typealias Key = (text: String, city: Int, isWhole: Bool)

    private let made = Mutex<[Key]?>(nil)

    /// Returns the keys of the gazetteer's cities, sorted.
    func keys(of cities: [Gazetteer.City]) -> [Key] {
        made.withLock { made in
            if let made { return made }
            let keys = Gazetteer.keys(of: cities)
            made = keys
            return keys
        }
    }
}
