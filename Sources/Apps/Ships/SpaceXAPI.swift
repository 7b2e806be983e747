import Foundation
import HTTPTypes
import Screens
public import Upstream

/// SpaceX REST API v4, as far as the app uses it: the list of all ships, and their pictures.
///
/// One request brings all ships (about 21 KB); there is no paging. Source: r-spacex/SpaceX-API, docs/ships/v4.
public struct SpaceXAPI: Sendable {
    /// Path of the list below the base URL.
    public static let shipsPath = "/v4/ships"

    let upstream: Upstream
    private let freshness: Duration

    /// The API behind an upstream. `freshness` is how long the list counts as fresh.
    public init(upstream: Upstream, freshness: Duration) {
        self.upstream = upstream
        self.freshness = freshness
    }

    /// The list of all ships. `merge` is called with them in the transaction that stores the answer.
    func ships(merge: @escaping @Sendable (ShipRecords) -> Resource.Admission) -> Resource {
        Resource(
            url: upstream.configuration.url(of: Self.shipsPath),
            headerFields: [.accept: "application/json"],
            freshness: freshness,
            admit: { answer throws(UpstreamError) in
                do {
                    return merge(try ShipRecords(json: Data(answer.body)))
                } catch {
                    throw .badAnswer(status: answer.status, reason: "\(error)")
                }
            }
        )
    }

    /// A picture, wherever the API says it is; only what looks like one is admitted. Pictures do not change: they are fresh for ever.
    func picture(at url: String) -> Resource {
        Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            admit: { answer throws(UpstreamError) in
                guard PictureType(of: answer.body) != nil else { throw .badAnswer(status: answer.status, reason: "not a picture") }
                return { _ in }
            }
        )
    }
}

/// The ships of one answer of the API.
struct ShipRecords: Sendable, Equatable {
    /// The answer is not a list of objects.
    enum ShapeError: Error, CustomStringConvertible {
        case notJSON
        case notAList

        var description: String {
            switch self {
            case .notJSON: "not JSON"
            case .notAList: "not a list of ships"
            }
        }
    }

    /// Usable records, in the order of the answer; the first of two with one id counts.
    let ships: [Ship]
    /// Records that are of no use, such as those without a name or an id; skipped, not fatal.
    let skipped: Int

    init(json: Data) throws(ShapeError) {
        let items: [Tolerant<Record>]
        do {
            items = try JSONDecoder().decode([Tolerant<Record>].self, from: json)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound, DecodingError.keyNotFound {
            throw .notAList
        } catch {
            throw .notJSON
        }
        self.init(items.map(\.value))
    }

    init(_ records: [Record?]) {
        var seen = Set<String>()
        ships = records.compactMap { $0?.ship }.filter { seen.insert($0.id).inserted }
        skipped = records.count - ships.count
    }
}

/// A list item that may be anything.
struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        // An item of the wrong shape is skipped by whoever reads the list; it must not take the others with it.
        value = try? Value(from: decoder)
    }
}
