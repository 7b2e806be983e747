public import Foundation
import HTTPSemantics
import HTTPTypes

extension CachedResponseHead {
    /// When the origin made the response; the time of reception if `Date` is absent or cannot be read. RFC 9110 §6.6.1.
    public var date: Date {
        headerFields.value(of: .date).flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    /// Returns the age of the response in seconds. RFC 9111 §4.2.3.
    public func age(at now: Date) -> Double {
        // HTTP dates have whole seconds only, so a fraction of a second between them is not an age.
        let apparentAge = max(0, responseTime.timeIntervalSince(date)).rounded(.down)
        let responseDelay = max(0, responseTime.timeIntervalSince(requestTime))
        let correctedAge = Double(receivedAge) + responseDelay
        return max(apparentAge, correctedAge) + residentTime(at: now)
    }

    /// Returns how long the response has been stored, in seconds. RFC 9111 §4.2.3 `resident_time`.
    ///
    /// A clock that was set back makes receptions lie in the future. How long ago they were is not known then: the
    /// distance to the present is counted, so that a response does not stay fresh until the clock has caught up.
    public func residentTime(at now: Date) -> Double {
        abs(now.timeIntervalSince(responseTime))
    }

    /// The `Age` of the received response. RFC 9111 §5.1: of several members the first counts, an invalid one is
    /// ignored.
    private var receivedAge: Int {
        guard let line = headerFields[values: .age].first, let member = FieldList.members(of: line).first else {
            return 0
        }
        return DeltaSeconds.parse(member) ?? 0
    }
}
