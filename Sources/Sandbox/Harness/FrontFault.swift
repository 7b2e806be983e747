import HTTPTypes

/// The faults of one request to the server that is tested.
struct FrontFault: Sendable {
    let faults: FrontFaults
    let head: HTTPRequest
    let admission: Admission
    /// Of a request that is held.
    let ticket: FaultGate.Ticket?
}
