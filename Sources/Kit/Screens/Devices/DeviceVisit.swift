import Freshness
import HummingbirdCore

/// A request of a device, from its head to the end of its response.
struct DeviceVisit: Sendable {
    let device: Device
    /// How long a response to it may be kept: until the device is removed.
    let changeToken: ChangeToken
    let entry: RequestsUnderWay.Entry

    /// Returns a body with whose end the request ends.
    func ending(with body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { [entry] writer in
            defer { entry.end() }
            try await body.write(writer)
        }
    }
}
