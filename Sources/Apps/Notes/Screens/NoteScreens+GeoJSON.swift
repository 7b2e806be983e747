import Foundation
import HTTPSemantics
import Screens

/// The map as GeoJSON (RFC 7946): a feature for each pin and each cluster. It has no envelope: the
/// header fields tell the rest.
struct NoteFeatureCollection: Encodable, Sendable {
    /// Its media type, RFC 7946 §12.
    static let mediaType = "application/geo+json; charset=utf-8"

    struct Feature: Encodable, Sendable {
        struct Point: Encodable, Sendable {
            let type = "Point"
            /// Longitude first, §3.1.1.
            let coordinates: [Double]

            private enum CodingKeys: CodingKey { case type, coordinates }
        }

        struct Properties: Encodable, Sendable {
            var title: String?
            var subtitle: Text?
            /// True for several notes; with `pointCount`, as is usual for clients of vector maps.
            let cluster: Bool
            var pointCount: Int?
            let href: Link
        }

        let type = "Feature"
        let id: String?
        let bbox: [Double]?
        let geometry: Point
        let properties: Properties

        private enum CodingKeys: CodingKey { case type, id, bbox, geometry, properties }

        init(_ pin: NoteMapScreen.Pin) {
            id = pin.noteId
            bbox = nil
            geometry = Point(coordinates: [pin.lon, pin.lat])
            properties = Properties(title: pin.title, subtitle: pin.subtitle, cluster: false, href: pin.href)
        }

        init(_ cluster: NoteMapScreen.Cluster) {
            id = nil
            bbox = cluster.bbox
            geometry = Point(coordinates: [cluster.lon, cluster.lat])
            properties = Properties(cluster: true, pointCount: cluster.count, href: cluster.href)
        }
    }

    let type = "FeatureCollection"
    let features: [Feature]

    private enum CodingKeys: CodingKey { case type, features }

    init(_ screen: NoteMapScreen) {
        features = screen.pins.map(Feature.init) + screen.clusters.map(Feature.init)
    }

    /// Returns whether a client prefers GeoJSON to a screen (RFC 9110 §12.5.1): it names it, with a weight that is not
    /// below that of JSON.
    static func isPreferred(by accepted: AcceptedMediaTypes) -> Bool {
        guard let weight = accepted.explicitWeight(of: "application/geo+json"), weight > 0 else { return false }
        return weight >= accepted.weight(of: "application/json")
    }
}
