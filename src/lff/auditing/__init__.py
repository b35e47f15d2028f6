"""Auditing: Fourier layers in networks and agents of any library, and advice on σ."""

from lff.auditing.audit import Audit as Audit
from lff.auditing.audit import LayerReport as LayerReport
from lff.auditing.audit import audit as audit
from lff.auditing.findings import Finding as Finding
from lff.auditing.insert import insert_front as insert_front
from lff.auditing.sigma import SigmaAdvice as SigmaAdvice
from lff.auditing.sigma import advise_sigma as advise_sigma
from lff.auditing.unpack import Parts as Parts
from lff.auditing.unpack import agent_parts as agent_parts
from lff.auditing.unpack import reads_action as reads_action
