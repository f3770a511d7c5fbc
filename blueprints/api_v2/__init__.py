from flask import Blueprint

v2 = Blueprint("api_v2", __name__)
