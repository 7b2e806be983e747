public import HTTPTypes

/// The media types that a client accepts, with their weights: `Accept`. RFC 9110 §12.5.1.
///
/// Parameters other than `q` are ignored; of several members with one range the first counts.
public struct AcceptedMediaTypes: Sendable {
    private let ranges: [WeightedValue]

    /// Reads the header fields of a request.
    public init(_ fields: HTTPFields) {
        ranges = WeightedValue.list(fields[values: .accept])
    }

    /// Returns the weight of a media type, given by the most specific range that covers it.
    /// - Parameter type: such as `text/plain`, in lower case and without parameters.
    /// - Returns: 1 without the field; 0 if no range covers the type.
    public func weight(of type: String) -> Double {
        guard !ranges.isEmpty else { return 1 }
        let family = type.prefix { $0 != "/" }
        return explicitWeight(of: type) ?? explicitWeight(of: "\(family)/*") ?? explicitWeight(of: "*/*") ?? 0
    }

    /// Returns the weight of a media type or range that the client names as it is; nil if it does not.
    public func explicitWeight(of range: String) -> Double? {
        ranges.first { $0.value == range }?.weight
    }
}
