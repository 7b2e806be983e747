import Foundation
import Storage

/// The time from which a public address opens nothing more.
enum LinkEnd: Sendable, Equatable {
    /// Not said: of an item, because lists and metadata of the API do not tell it; of a wish, because any will do.
    case unspecified
    /// The address has no end.
    case never
    /// A time in whole seconds, as the API has it.
    case at(Date)

    var date: Date? { if case .at(let date) = self { date } else { nil } }

    /// Returns the end that a link still has to get to be as wished; nil if it is. If no end is wished, a link that has
    /// ended is to have none any more.
    func missing(from present: LinkEnd, at now: Date) -> LinkEnd? {
        switch (self, present) {
        case (.unspecified, .at(let end)) where end <= now: .never
        case (.unspecified, _): nil
        default: self == present ? nil : self
        }
    }
}

// Its column: milliseconds since 1970, 0 for none, NULL if it is not known.
extension LinkEnd {
    init(milliseconds: Int64?) {
        switch milliseconds {
        case nil: self = .unspecified
        case 0?: self = .never
        case let time?: self = .at(Date(millisecondsSince1970: time))
        }
    }

    var milliseconds: Int64? {
        switch self {
        case .unspecified: nil
        case .never: 0
        case .at(let date): date.millisecondsSince1970
        }
    }
}

extension DiskItem {
    /// Makes it an item without a public address.
    mutating func unpublish() {
        isPublished = false
        publicURL = nil
        linkEnd = .unspecified
    }

    /// Returns the item with the end of its link from an earlier state of the same link, if this response of the API
    /// lacks it.
    func keepingLinkEnd(of earlier: DiskItem?) -> DiskItem {
        guard linkEnd == .unspecified, isPublished, let earlier, earlier.isPublished else { return self }
        guard publicURL == nil || earlier.publicURL == nil || publicURL == earlier.publicURL else { return self }
        var item = self
        item.linkEnd = earlier.linkEnd
        return item
    }
}
