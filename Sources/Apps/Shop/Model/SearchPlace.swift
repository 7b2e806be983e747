import Foundation
import Screens

/// The beginning of a page of a search: an offset, or the place in a cursor.
///
/// The catalogue's list is known by position only, and rows of it are filtered here. So a cursor says at which position
/// of the catalogue's list the page before ended: neither the pages before nor their limit need be known. Among the
/// products that were ever seen, a page begins behind a product; among those that were found by other words, at an
/// offset.
struct SearchPlace: Sendable, Equatable {
    /// Largest offset that is used; a larger one is reduced to it. No list is that long, no sum of offsets overflows,
    /// and the upstream can read the number.
    static let maximumOffset = Int(Int32.max)

    /// Products on the pages before.
    var offset: Int
    /// The position in the catalogue's list that the page before has reached, and the products before that; nil if the
    /// page before was not made of the catalogue's list.
    var reached: (position: Int, offset: Int)?
    /// The last product of the page before, if that was made of products that were ever seen.
    var productID: Int?
    /// Whether the page before has products that were found by other words than those of the text.
    var isOfVariant = false

    static func == (one: SearchPlace, other: SearchPlace) -> Bool { one.key == other.key }
}

extension SearchPlace {
    /// Returns the paged list of the results of a query, which makes and reads cursors.
    static func list(of query: SearchQuery) -> PagedList {
        PagedList("shop.search", filter: query.key, key: [.integer, .integer, .integer, .integer])
    }

    /// The key of a cursor; -1 is no value.
    var key: [CursorValue] {
        [offset, reached?.position ?? -1, reached?.offset ?? (isOfVariant ? 0 : -1), productID ?? -1]
            .map { .integer(Int64($0)) }
    }

    /// Reads the place of a request; numbers that no cursor has are those of the nearest place.
    init(_ page: PageRequest) {
        let values = (page.key ?? []).compactMap(\.integer).map {
            Int(min(max($0, -1), Int64(Self.maximumOffset)))
        }
        guard values.count == 4 else {
            self.init(offset: min(page.offset, Self.maximumOffset))
            return
        }
        let offset = max(values[0], 0)
        self.init(
            offset: offset,
            reached: values[1] < 0 ? nil : (values[1], min(max(values[2], 0), offset)),
            productID: values[3] < 0 ? nil : values[3],
            isOfVariant: values[1] < 0 && values[2] == 0
        )
    }
}
