import Foundation
import Freshness
import Screens
import Upstream

/// Addresses of positions: from the geocoder if there is one and it responds within the patience, else the nearest
/// known city with its distance.
struct NoteAddresses: Sendable {
    /// An address.
    struct Address: Sendable {
        let text: String
        /// Holds while the position has this address; nil if that is not known.
        var changeToken: ChangeToken?
    }

    let gazetteer: Gazetteer
    let geocoder: GeocoderClient?

    /// Returns the address of a position. It does not fail if the geocoder does.
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    func address(of point: Coordinate) async throws -> Address {
        guard let geocoder else { return Address(text: nearestCity(to: point), changeToken: .unlimited) }
        do {
            let (result, address) = try await geocoder.readAddress(of: point, bundledAt: gazetteer.date)
            return Address(text: address ?? nearestCity(to: point), changeToken: result.changeToken)
        } catch is UpstreamError {
            return Address(text: nearestCity(to: point))
        }
    }

    private func nearestCity(to point: Coordinate) -> String {
        guard let (city, distance) = gazetteer.nearest(to: point) else { return Note.Location.unknown.name }
        return "\(max(1, Int(distance.rounded()))) km from \(city.name), \(city.region)"
    }
}
